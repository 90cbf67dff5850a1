/** What a deployment promises, whatever it runs on: the same cases in this process, in workerd and through Lambda events. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startReceiver } from '../push/support/receiver.ts';
import type { Receiver } from '../push/support/receiver.ts';
import { PUSH_KEY } from '../push/support/scripted-push.ts';
import { startCaller } from './support/caller.ts';
import type { Caller } from './support/caller.ts';
import type { StartForm } from './support/form.ts';
import { startTarget } from './support/target.ts';
import type { Target } from './support/target.ts';

const REPORT = { queue: 'reports', type: 'report.csv', payload: { rows: [{ city: 'Oslo' }] } };
const OTHER_KEY = `whsec_${Buffer.from('a key that nobody here knows of.').toString('base64')}`;

/** Declares the cases; each form does so inside a group of its own. */
export function behaviour(start: StartForm): void {
  let target: Target;
  let receiver: Receiver;
  /** Runs what it is poked for, and pokes nobody by itself. */
  let quiet: Caller;

  beforeAll(async () => {
    receiver = await startReceiver([PUSH_KEY]);
    quiet = await startCaller(start, {
      INSERT_POKES: 'off',
      CHAIN_POKES: 'off',
      TIMED_WAKES: 'off',
      PUSH_SECRETS: PUSH_KEY,
      PUSH_ALLOW_HTTP: 'on',
      PUSH_ALLOWED_HOSTS: `127.0.0.1:${receiver.port}`,
    });
  });
  afterAll(async () => {
    await quiet.form.close();
    await receiver.close();
  });
  beforeEach(async () => {
    target = await startTarget();
  });
  afterEach(() => target.close());

  const call = (): Readonly<Record<string, unknown>> => ({
    queue: 'http',
    type: 'http.request',
    payload: { url: target.url, body: { order: 7 } },
  });

  describe('a job', () => {
    test('is poked for when it is added, runs, and succeeds', async () => {
      const lively = await startCaller(start, {});
      try {
        const id = await lively.enqueue(REPORT);
        expect(await lively.reaches(id, 'succeeded')).toMatchObject({
          attempt: 1,
          result: { rows: 1, csv: 'city\r\nOslo\r\n' },
        });
      } finally {
        await lively.form.close();
      }
    });

    test('that fails for now is tried again, under the same key', async () => {
      await quiet.call('PUT', '/v1/queues/http', { body: { backoff_base_ms: 0 } });
      target.next.push(503);
      const id = await quiet.enqueue(call());
      expect((await quiet.poke('http')).body).toMatchObject({
        outcome: 'retrying',
        code: 'http_503',
      });
      expect((await quiet.poke('http')).body).toMatchObject({ outcome: 'succeeded', attempt: 2 });
      expect(target.keys).toEqual([id, id]);
      const { attempts } = await quiet.job(id);
      expect(attempts).toMatchObject([{ outcome: 'failed' }, { outcome: 'succeeded' }]);
    });

    test('that fails for good is dead, is seen, and goes back as what it was', async () => {
      target.next.push(400);
      const id = await quiet.enqueue(call());
      expect((await quiet.poke('http')).body).toMatchObject({ outcome: 'dead', code: 'http_400' });
      const { body } = await quiet.call('GET', '/v1/dead-letters?queue=http');
      expect(JSON.stringify(body)).toContain(id);

      const redriven = await quiet.call('POST', '/v1/dead-letters/redrive', {
        body: { job_ids: [id], reason: 'the order exists now' },
      });
      expect(redriven.status).toBe(200);
      expect((await quiet.poke('http')).body).toMatchObject({ outcome: 'succeeded', job_id: id });
      expect(target.keys).toEqual([id, id]);
      expect(await quiet.job(id)).toMatchObject({ state: 'succeeded' });
    });

    test('for later is not started before its time', async () => {
      const id = await quiet.enqueue({ ...REPORT, delay_seconds: 2 });
      expect((await quiet.poke('reports')).body).toMatchObject({ outcome: 'empty' });
      expect(await quiet.job(id)).toMatchObject({ state: 'pending', waiting_for: 'time' });
      await expect
        .poll(() => quiet.poke('reports').then(({ body }) => body['outcome']), { timeout: 10_000 })
        .toBe('succeeded');
    });

    test('that is called off never runs', async () => {
      const id = await quiet.enqueue(call());
      expect((await quiet.call('POST', `/v1/jobs/${id}/cancel`, { body: {} })).status).toBe(200);
      expect((await quiet.poke('http')).body).toMatchObject({ outcome: 'empty' });
      expect(target.keys).toEqual([]);
    });

    test('that is added twice is one', async () => {
      const first = await quiet.enqueue(call());
      const { status } = await quiet.call('POST', '/v1/jobs', { body: { id: first, ...call() } });
      expect(status).toBe(200);
      const key = { 'idempotency-key': `"${randomUUID()}"` };
      const twice = [
        await quiet.call('POST', '/v1/jobs', { body: call(), headers: key }),
        await quiet.call('POST', '/v1/jobs', { body: call(), headers: key }),
      ];
      expect(twice[0]?.body['id']).toBe(twice[1]?.body['id']);
      await quiet.poke('http');
      await quiet.poke('http');
      expect((await quiet.poke('http')).body).toMatchObject({ outcome: 'empty' });
    });
  });

  describe('a queue', () => {
    test('that is paused gives nothing out until it is resumed', async () => {
      const id = await quiet.enqueue(REPORT);
      const reason = { body: { reason: 'looking' } };
      expect((await quiet.call('POST', '/v1/queues/reports/pause', reason)).status).toBe(200);
      expect((await quiet.poke('reports')).body).toMatchObject({ outcome: 'empty' });
      expect(await quiet.job(id)).toMatchObject({ state: 'pending', waiting_for: 'pause' });
      expect((await quiet.call('POST', '/v1/queues/reports/resume', reason)).status).toBe(200);
      expect((await quiet.poke('reports')).body).toMatchObject({
        outcome: 'succeeded',
        job_id: id,
      });
    });

    test('that is pulled is leased over HTTP, held and completed; an old token is told so', async () => {
      const id = await quiet.enqueue({ queue: 'for-agents', type: 'write', payload: { n: 1 } });
      const claimed = await quiet.call('POST', '/v1/queues/for-agents/claims', {
        body: { claim_id: randomUUID() },
      });
      const [lease] = claimed.body['jobs'] as readonly { id: string; fencing_token: string }[];
      expect(lease?.id).toBe(id);
      const report = { fencing_token: lease?.fencing_token };
      const beat = { body: { ...report, step: 1 } };
      expect((await quiet.call('POST', `/v1/leases/${id}/heartbeat`, beat)).body).toMatchObject({
        outcome: 'held',
      });
      const done = { body: { ...report, result: { words: 7 } } };
      expect((await quiet.call('POST', `/v1/leases/${id}/complete`, done)).status).toBe(200);
      const old = { body: { fencing_token: '99' } };
      expect((await quiet.call('POST', `/v1/leases/${id}/complete`, old)).body).toMatchObject({
        status: 409,
        code: 'lease_lost',
      });
      expect(await quiet.job(id)).toMatchObject({ state: 'succeeded', result: { words: 7 } });
    });

    test('that an agent works on is taken and completed by the tools of its protocol', async () => {
      const tool = async (
        name: string,
        args: Readonly<Record<string, unknown>>,
      ): Promise<Readonly<Record<string, unknown>>> => {
        const params = { name, arguments: args };
        const { status, body } = await quiet.call('POST', '/mcp', {
          body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
        });
        expect(status).toBe(200);
        const { structuredContent } = body['result'] as {
          readonly structuredContent: Readonly<Record<string, unknown>>;
        };
        return structuredContent;
      };
      const id = await quiet.enqueue({ queue: 'for-agents', type: 'write', payload: 'é 🎈' });
      const { job } = await tool('claim', { queues: ['for-agents'] });
      expect(job).toMatchObject({ id, payload: 'é 🎈' });
      const { fencing_token: fencingToken } = job as { readonly fencing_token: string };
      const lease = { job_id: id, fencing_token: fencingToken };
      expect(await tool('heartbeat', { ...lease, progress: 'half way' })).toMatchObject({
        outcome: 'held',
      });
      expect(await tool('complete', { ...lease, result: 1 })).toMatchObject({
        outcome: 'succeeded',
      });
      expect(await quiet.job(id)).toMatchObject({ state: 'succeeded', result: 1 });
    });

    test('that is pushed sends its jobs signed', async () => {
      await quiet.call('PUT', '/v1/queues/hooks', {
        body: { delivery: 'push', target_url: receiver.url('/in') },
      });
      await receiver.answer({ status: 200, body: 'thanks' });
      const id = await quiet.enqueue({ queue: 'hooks', type: 'paid', payload: { text: '😀 ü' } });
      expect((await quiet.poke('hooks')).body).toMatchObject({ outcome: 'succeeded', job_id: id });
      expect(receiver.received).toMatchObject([
        { path: '/in', verdicts: ['verified'], headers: { 'webhook-id': id } },
      ]);
    });

    test('is emptied by the drain, with every other wake-up off', async () => {
      const ids = [
        await quiet.enqueue(REPORT),
        await quiet.enqueue(REPORT),
        await quiet.enqueue(REPORT),
      ];
      await quiet.form.drain();
      for (const id of ids) {
        expect(await quiet.reaches(id, 'succeeded')).toMatchObject({ attempt: 1 });
      }
    });
  });

  describe('a caller', () => {
    test.each<[string, string, string]>([
      ['no token', 'GET', '/v1/jobs'],
      ['no signature', 'POST', '/v1/work'],
    ])('with %s is refused', async (_name, method, path) => {
      const body = method === 'POST' ? { body: { queue: 'reports', depth: 0 } } : {};
      const reply = await quiet.call(method, path, { ...body, scopes: null });
      expect(reply.body).toMatchObject({ status: 401, code: 'unauthenticated' });
    });

    test('with a token of another scope is refused', async () => {
      const reply = await quiet.call('POST', '/v1/jobs', { body: REPORT, scopes: ['read'] });
      expect(reply.body).toMatchObject({ status: 403, code: 'forbidden' });
    });

    test('with a poke under another key is refused', async () => {
      expect((await quiet.poke('reports', OTHER_KEY)).body).toMatchObject({
        status: 401,
        code: 'bad_signature',
      });
    });

    test('hears health without a token', async () => {
      const { status, body } = await quiet.call('GET', '/v1/health', { scopes: null });
      expect([status, body]).toEqual([200, { status: 'ok' }]);
    });
  });

  describe('an error', () => {
    test.each<[string, string, string, unknown, number, string]>([
      ['bad JSON', 'POST', '/v1/jobs', '{bad', 400, 'invalid_json'],
      ['a rule broken', 'POST', '/v1/jobs', { ...REPORT, max_attempts: 0 }, 400, 'invalid_request'],
      ['no such path', 'GET', '/v1/nothing', undefined, 404, 'not_found'],
      ['no such method', 'DELETE', '/v1/jobs', undefined, 405, 'method_not_allowed'],
      [
        'a body too large',
        'POST',
        '/v1/jobs',
        'x'.repeat(4 * 1024 * 1024 + 1),
        413,
        'body_too_large',
      ],
    ])('for %s is a problem document', async (_name, method, path, body, status, code) => {
      const reply = await quiet.call(method, path, body === undefined ? {} : { body });
      expect(reply.status).toBe(status);
      expect(reply.body).toMatchObject({ status, code });
      expect(reply.headers.get('content-type')).toBe('application/problem+json');
      expect(reply.headers.get('x-request-id')).toBe(reply.body['request_id']);
    });
  });
}
