import { randomBytes } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { expect } from 'vitest';
import { localToken } from '../../../infra/local/token.ts';
import type { Scope } from '../../../shared/scopes.ts';
import { SCOPES } from '../../../shared/scopes.ts';
import { signWebhook } from '../../../shared/webhook.ts';
import type { Form, StartForm } from './form.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface CallWith {
  /** Sent as JSON, unless it is text. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** null: no token. Default: all. */
  readonly scopes?: readonly Scope[] | null;
}

/** Calls one form as producers, workers, operators and other workers' pokes do. */
export interface Caller {
  call(method: string, path: string, options?: CallWith): Promise<Reply>;
  /** Adds a job and gives its id. */
  enqueue(job: Readonly<Record<string, unknown>>): Promise<string>;
  job(id: string): Promise<Readonly<Record<string, unknown>>>;
  /** Waits until a job is in a state. */
  reaches(id: string, state: string): Promise<Readonly<Record<string, unknown>>>;
  /** Signed, as workers send it to each other; gives the answer. */
  poke(queue: string, key?: string): Promise<Reply>;
  readonly form: Form;
}

export async function startCaller(
  start: StartForm,
  variables: Readonly<Record<string, string>>,
): Promise<Caller> {
  const secret = randomBytes(32).toString('base64url');
  const pokeKey = `whsec_${randomBytes(32).toString('base64')}`;
  const form = await start({ AUTH_SECRET: secret, POKE_SECRETS: pokeKey, ...variables });

  const caller: Caller = {
    form,
    call: async (method, path, { body, headers, scopes = SCOPES } = {}) => {
      const token =
        scopes === null
          ? undefined
          : await localToken(secret, { subject: 'tester', scopes, days: 1 });
      return await replyOf(
        await form.fetch(path, {
          method,
          headers: {
            ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            ...headers,
          },
          ...(body === undefined
            ? {}
            : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        }),
      );
    },
    enqueue: async (job) => {
      const id = uuidv7();
      const { status } = await caller.call('POST', '/v1/jobs', { body: { id, ...job } });
      expect(status).toBe(201);
      return id;
    },
    job: async (id) => (await caller.call('GET', `/v1/jobs/${id}`)).body,
    reaches: async (id, state) => {
      await expect
        .poll(() => caller.job(id).then((job) => job['state']), { timeout: 20_000, interval: 50 })
        .toBe(state);
      return await caller.job(id);
    },
    poke: async (queue, key = pokeKey) => {
      const body = JSON.stringify({ queue, depth: 0 });
      const nowMs = Date.now();
      return await replyOf(
        await form.fetch('/v1/work', {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            ...signWebhook(key, { id: `poke_${uuidv7()}`, body, nowMs }),
          },
          body,
        }),
      );
    },
  };
  return caller;
}

async function replyOf(response: Response): Promise<Reply> {
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
  };
}
