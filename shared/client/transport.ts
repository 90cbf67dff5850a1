import type { z } from 'zod';

import { waitAtMost } from '../bounded-wait.ts';
import type { WaitOutcome } from '../bounded-wait.ts';
import { isSuccessStatus } from '../http-status.ts';
import type { JsonValue } from '../json-value.ts';
import type { Clock, Ids, Random, Timer } from '../ports.ts';
import type { TraceContext } from '../trace-context.ts';
import { LeaseholdApiError, apiError } from './api-error.ts';
import { MAX_TRIES, RETRY_BUDGET_MS, TRY_TIMEOUT_MS, isWorthAnotherTry, pauseMs } from './retry.ts';

export interface TransportPorts {
  readonly fetch: (request: Request) => Promise<Response>;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly random: Random;
  readonly ids: Ids;
}

export interface TransportOptions extends TransportPorts {
  readonly baseUrl: string;
  readonly token: () => string | Promise<string>;
}

export interface CallOptions {
  /** Ends the call. A write that was on its way may have been done. */
  readonly signal?: AbortSignal | undefined;
}

export interface Call<Value> extends CallOptions {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** From the root of the API, parts encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** Sent as it is on every try. */
  readonly body?: object;
  /** Whether the request is named by an `Idempotency-Key`: for writes that name themselves by nothing in the body. */
  readonly keyed?: boolean;
  /** What a success answers with. */
  readonly answer: z.ZodType<Value>;
  /** Seconds that the service may take by request, beside the usual time. */
  readonly waitSeconds?: number | undefined;
  /** What the request belongs to. */
  readonly trace?: TraceContext | undefined;
  /** Default `MAX_TRIES`. */
  readonly maxTries?: number;
}

export interface Answered<Value> {
  readonly status: number;
  readonly value: Value;
  /** Local milliseconds when the request went out that was answered. */
  readonly sentAt: number;
}

/** Sends a call until it is answered: each try is the same request, so that it does not matter which one was carried out. */
export type Transport = <Value>(call: Call<Value>) => Promise<Answered<Value>>;

/** @throws {LeaseholdApiError} from each call: a refusal, or the last failure when no try was answered */
export function createTransport(options: TransportOptions): Transport {
  const { clock, timer, random, ids } = options;
  const root = options.baseUrl.replace(/\/+$/, '');
  return async (call) => {
    const key = call.keyed === true ? ids.uuidv7() : undefined;
    const began = clock.now();
    const budgetMs = RETRY_BUDGET_MS + (call.waitSeconds ?? 0) * 1000;
    for (let tries = 1; ; tries += 1) {
      call.signal?.throwIfAborted();
      const sentAt = clock.now();
      const seen = await waitAtMost(
        timer,
        TRY_TIMEOUT_MS + (call.waitSeconds ?? 0) * 1000,
        async (signal) => await send(options, await requestOf(options, root, call, key, signal)),
        call.signal,
      );
      call.signal?.throwIfAborted();
      const outcome = judged(call.answer, seen);
      if (outcome.ok) return { status: outcome.status, value: outcome.value, sentAt };
      const pause = pauseMs(outcome.error, tries, random);
      const spent = clock.now() - began;
      if (
        !isWorthAnotherTry(outcome.error) ||
        tries >= (call.maxTries ?? MAX_TRIES) ||
        spent + pause > budgetMs
      ) {
        throw outcome.error;
      }
      await timer.sleep(pause, call.signal);
    }
  };
}

interface Seen {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

async function requestOf(
  { token }: TransportOptions,
  root: string,
  { method, path, query = {}, body, trace }: Call<unknown>,
  key: string | undefined,
  signal: AbortSignal,
): Promise<Request> {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, String(value));
  }
  return new Request(`${root}${path}${search.size === 0 ? '' : `?${search.toString()}`}`, {
    method,
    headers: {
      accept: 'application/json, application/problem+json',
      authorization: `Bearer ${await token()}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
      ...trace,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    // A redirect would carry the body, and with it payloads, to another place.
    redirect: 'manual',
    signal,
  });
}

async function send({ fetch }: TransportPorts, request: Request): Promise<Seen> {
  const response = await fetch(request);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

type Judged<Value> =
  | { readonly ok: true; readonly status: number; readonly value: Value }
  | { readonly ok: false; readonly error: LeaseholdApiError };

function judged<Value>(answer: z.ZodType<Value>, seen: WaitOutcome<Seen>): Judged<Value> {
  if (seen.kind !== 'value') {
    const cause = seen.kind === 'error' ? seen.error : undefined;
    return { ok: false, error: noAnswer(cause) };
  }
  const { status, headers, text } = seen.value;
  const body = parsed(text);
  if (!isSuccessStatus(status)) return { ok: false, error: apiError(status, headers, body) };
  const value = answer.safeParse(body);
  if (value.success) return { ok: true, status, value: value.data };
  return { ok: false, error: unexpected(status, headers, value.error) };
}

function parsed(text: string): JsonValue | undefined {
  try {
    return text === '' ? undefined : (JSON.parse(text) as JsonValue);
  } catch {
    return undefined;
  }
}

function noAnswer(cause: unknown): LeaseholdApiError {
  return new LeaseholdApiError('No answer came, so nobody knows whether the request was done.', {
    status: 0,
    code: 'no_answer',
    cause,
  });
}

function unexpected(status: number, headers: Headers, cause: unknown): LeaseholdApiError {
  return new LeaseholdApiError(`The answer ${status} is not what this client knows.`, {
    status,
    code: 'unexpected_answer',
    requestId: headers.get('x-request-id') ?? undefined,
    cause,
  });
}
