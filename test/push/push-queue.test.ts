import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { pushOwner } from '../../functions/push-once.ts';
import { cancel } from '../../shared/queue/cancel.ts';
import { complete } from '../../shared/queue/complete.ts';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { heartbeat } from '../../shared/queue/heartbeat.ts';
import { signToken } from '../routes/support/app-harness.ts';
import type { Answer } from '../routes/support/app-harness.ts';
import { createPushApp } from './support/push-app.ts';
import type { PushApp } from './support/push-app.ts';

let push: PushApp;
beforeAll(async () => {
  push = await createPushApp();
});
afterAll(() => push.close());
beforeEach(async () => {
  push.receiver.received.length = 0;
  await push.receiver.answer({ status: 200 });
});

describe('S1.8 what the answer of a target means', () => {
  test.each([
    [200, 'succeeded', 'succeeded'],
    [204, 'succeeded', 'succeeded'],
    [408, 'retrying', 'pending'],
    [425, 'retrying', 'pending'],
    [429, 'retrying', 'pending'],
    [500, 'retrying', 'pending'],
    [503, 'retrying', 'pending'],
    [400, 'dead', 'dead'],
    [404, 'dead', 'dead'],
    [410, 'dead', 'dead'],
  ])('%i: %s', async (status, outcome, state) => {
    const queue = `status ${status}`;
    await push.configure(queue, '/in');
    const id = await push.enqueue(queue, '{}');
    await push.receiver.answer({ status });
    expect(await push.work(queue)).toMatchObject({ outcome });
    expect(push.receiver.received).toHaveLength(1);
    expect(await push.job(id)).toMatchObject({ state, attempt: 1 });
  });

  test('a connection that is refused is tried again', async () => {
    await configureQueue(push.app.database.sql, {
      queue: 'refused',
      actor: 'maria',
      settings: { delivery: 'push', target_url: 'http://127.0.0.1:1/' },
    });
    await push.enqueue('refused', '{}');
    expect(await push.work('refused')).toMatchObject({
      outcome: 'retrying',
      code: 'push_unreachable',
    });
  });
});

describe('case J1 a redirect is a failed attempt and never followed', () => {
  test.each([301, 302, 303, 307, 308])('%i', async (status) => {
    const queue = `redirect ${status}`;
    await push.configure(queue, '/in');
    const id = await push.enqueue(queue, '{}');
    for (const location of [push.receiver.url('/secret'), 'http://169.254.169.254/', '/secret']) {
      await push.receiver.answer({ status, headers: { location }, body: 'moved' });
      await push.makeDue(queue);
      expect(await push.work(queue)).toMatchObject({ outcome: 'retrying', code: 'http_redirect' });
    }
    expect(push.receiver.received.map(({ path }) => path)).toEqual(['/in', '/in', '/in']);
    expect((await push.job(id)).attempts).toHaveLength(3);
  });

  test('a target that was good when it was stored is judged at each send', async () => {
    await configureQueue(push.app.database.sql, {
      queue: 'turned',
      actor: 'maria',
      settings: { delivery: 'push', target_url: 'http://127.0.0.1:2/' },
    });
    await push.enqueue('turned', '{}');
    expect(await push.work('turned')).toMatchObject({
      outcome: 'retrying',
      code: 'push_target_refused',
    });
    expect(push.receiver.received).toHaveLength(0);
  });
});

describe('case J3 Retry-After is honoured within bounds', () => {
  test.each([
    ['seconds', 429, '2', 2, 2.5],
    ['a date', 503, () => new Date(Date.now() + 3000).toUTCString(), 1.5, 3.5],
    ['the past', 503, 'Sun, 06 Nov 1994 08:49:37 GMT', 0, 1],
    ['a day, which is more than the queue allows', 503, '86400', 5, 5.5],
    ['junk', 429, 'soon', 0, 1],
    ['nothing', 429, '', 0, 1],
  ])('%s', async (name, status, header, least, most) => {
    const queue = `retry after ${name}`;
    await push.configure(queue, '/in', { backoff_base_ms: 500, backoff_cap_ms: 5000 });
    const id = await push.enqueue(queue, '{}');
    const retryAfter = typeof header === 'string' ? header : header();
    await push.receiver.answer({ status, headers: { 'retry-after': retryAfter } });
    await push.work(queue);
    const { attempts, due_at: dueAt } = await push.job(id);
    const endedAt = Date.parse(attempts.at(-1)?.ended_at ?? '');
    const waits = (Date.parse(dueAt ?? '') - endedAt) / 1000;
    expect(waits).toBeGreaterThanOrEqual(least);
    expect(waits).toBeLessThanOrEqual(most);
  });
});

describe('what is kept of an answer', () => {
  test('JSON, bounded', async () => {
    await push.configure('answers', '/in');
    const id = await push.enqueue('answers', '{}');
    await push.receiver.answer({
      status: 201,
      headers: { 'content-type': 'application/json' },
      body: '{"id":"rec_7"}',
    });
    await push.work('answers');
    expect(await push.job(id)).toMatchObject({ result: { status: 201, body: { id: 'rec_7' } } });
  });

  test('case J1 no more than 4 KiB of a success and 1,000 characters of a failure', async () => {
    await push.configure('talkative', '/in');
    const first = await push.enqueue('talkative', '{}');
    await push.receiver.answer({ status: 200, body: 'é'.repeat(100_000) });
    await push.work('talkative');
    const { result } = await push.job(first);
    expect(result).toMatchObject({ status: 200, cut: true });
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThanOrEqual(4 * 1024 + 100);
    const second = await push.enqueue('talkative', '{}');
    await push.receiver.answer({ status: 400, body: 'internal page '.repeat(10_000) });
    await push.work('talkative');
    const { dead } = await push.job(second);
    expect(JSON.stringify(dead).length).toBeLessThan(1500);
  });

  test('case J1 only a token with the scope read sees it', async () => {
    await push.configure('guarded', '/in');
    const id = await push.enqueue('guarded', '{}');
    await push.receiver.answer({ status: 200, body: 'an internal page' });
    await push.work('guarded');
    const answer = await push.app.call('GET', `/v1/jobs/${id}`, { scope: 'enqueue work' });
    expect(answer.status).toBe(403);
    expect(JSON.stringify(answer.body)).not.toContain('internal page');
  });
});

describe('a receiver that acknowledges with Leasehold-Async: 1', () => {
  test('holds the lease in its full length, beats and completes with the token it was sent', async () => {
    await push.configure('async', '/in', { lease_seconds: 300 });
    const id = await push.enqueue('async', '{}');
    await push.receiver.answer({ status: 202, headers: { 'leasehold-async': '1' } });
    expect(await push.work('async')).toMatchObject({ outcome: 'handed_over', job_id: id });
    const running = await push.job(id);
    expect(running).toMatchObject({ state: 'running', lease: { owner: pushOwner('async') } });
    const left = Date.parse(running.lease?.expires_at ?? '') - Date.now();
    expect(left).toBeGreaterThan(200_000); // more than the 30 s of an invocation

    const [request] = push.receiver.received;
    expect(request?.headers['leasehold-lease-seconds']).toBe('300');
    const fencingToken = String(request?.headers['leasehold-fencing-token']);
    const { sql } = push.app.database;
    const lease = { jobId: id, owner: pushOwner('async'), fencingToken };
    expect(await heartbeat(sql, { ...lease, step: 1 })).toMatchObject({ outcome: 'held' });
    // Neither another owner nor an older token can report it.
    expect(await complete(sql, { ...lease, owner: 'push/other' })).toEqual({
      outcome: 'lease_lost',
    });
    expect(await complete(sql, { ...lease, fencingToken: '0' })).toEqual({ outcome: 'lease_lost' });
    expect(await complete(sql, lease)).toMatchObject({ outcome: 'succeeded' });
  });

  test('reports over HTTP with a token whose subject is push/<queue>, and no other token can', async () => {
    await push.configure('over http', '/in');
    const id = await push.enqueue('over http', '{}');
    await push.receiver.answer({ status: 202, headers: { 'leasehold-async': '1' } });
    await push.work('over http');
    const fencingToken = push.receiver.received[0]?.headers['leasehold-fencing-token'];
    const report = async (verb: string, subject: string, body: object): Promise<Answer> => {
      const request = await push.app.request('POST', `/v1/leases/${id}/${verb}`, {
        scope: null,
        body: { fencing_token: fencingToken, ...body },
        headers: {
          authorization: `Bearer ${await signToken('work', { subject, queues: ['over http'] })}`,
        },
      });
      return await push.app.callApp({}, request);
    };
    const owner = pushOwner('over http');
    expect((await report('heartbeat', owner, { step: 1 })).status).toBe(200);
    expect((await report('complete', 'somebody', {})).body).toMatchObject({ code: 'lease_lost' });
    const wrongToken = { fencing_token: '99' };
    expect((await report('complete', owner, wrongToken)).body).toMatchObject({
      code: 'lease_lost',
    });
    expect((await report('complete', owner, { result: { rows: 7 } })).status).toBe(200);
    expect(await push.job(id)).toMatchObject({
      state: 'succeeded',
      finished_by: owner,
      result: { rows: 7 },
    });
  });

  test('and falls silent loses it: the next push is another attempt with a larger token', async () => {
    await push.configure('silent', '/in');
    await push.enqueue('silent', '{}');
    await push.receiver.answer({ status: 202, headers: { 'leasehold-async': '1' } });
    await push.work('silent');
    await push.app.database.pool.query(
      "update leasehold.job_state set due_at = clock_timestamp() - interval '1 s' where queue = 'silent'",
    );
    await push.receiver.answer({ status: 200 });
    expect(await push.work('silent')).toMatchObject({ outcome: 'succeeded', attempt: 2 });
    const tokens = push.receiver.received.map(({ headers }) => headers['leasehold-fencing-token']);
    expect(tokens).toEqual(['1', '2']);
  });
});

test('case G1 a job that is called off while it is pushed ends cancelled', async () => {
  await push.configure('called off', '/in');
  const id = await push.enqueue('called off', '{}');
  const outcome = await push.work('called off', {
    outbound: {
      fetch: async () => {
        expect(await cancel(push.app.database.sql, { jobId: id, actor: 'maria' })).toBe(
          'cancel_requested',
        );
        return new Response('delivered');
      },
    },
  });
  expect(outcome).toMatchObject({ outcome: 'cancelled' });
  expect(await push.job(id)).toMatchObject({
    state: 'cancelled',
    result: { status: 200, body: 'delivered' },
  });
});

describe('a queue that is not pushed from here', () => {
  test('without keys nothing is claimed, and nothing goes out unsigned', async () => {
    await push.configure('no keys', '/in');
    const id = await push.enqueue('no keys', '{}');
    const { config } = push.app.deps();
    const outcome = await push.work('no keys', { config: { ...config, pushSecrets: [] } });
    expect(outcome).toMatchObject({ outcome: 'push_not_configured' });
    expect(await push.job(id)).toMatchObject({ state: 'pending', attempt: 0 });
    expect(push.receiver.received).toHaveLength(0);
  });

  test('a queue with delivery pull, or none, is left to others', async () => {
    await push.configure('pulled', '/in', { delivery: 'pull' });
    await push.enqueue('pulled', '{}');
    expect(await push.work('pulled')).toMatchObject({ outcome: 'no_handler' });
    expect(await push.work('never heard of')).toMatchObject({ outcome: 'no_handler' });
  });
});

describe('S1.16 an enqueue into a queue that is pushed pokes', () => {
  test('after its commit, and not for a queue that is pulled', async () => {
    await push.configure('poked', '/in');
    await push.configure('pulled quietly', '/in', { delivery: 'pull' });
    await push.app.backgroundDone();
    push.app.pokes.length = 0;
    await push.enqueue('poked', '{}');
    await push.enqueue('pulled quietly', '{}');
    await push.app.backgroundDone();
    expect(push.app.pokes).toEqual([{ queue: 'poked', depth: 0 }]);
  });

  test('a database that does not answer costs the poke and nothing else', async () => {
    await push.configure('unlucky', '/in');
    await push.app.backgroundDone();
    push.app.pokes.length = 0;
    const { faults } = push.app.http.endpoint;
    faults.next(
      { kind: 'sql_error', code: '42501' },
      { match: /queue_document/, times: Number.MAX_SAFE_INTEGER },
    );
    try {
      await push.enqueue('unlucky', '{}');
      await push.app.backgroundDone();
    } finally {
      faults.clear();
    }
    expect(push.app.pokes).toEqual([]);
    expect(push.app.log.events).toContain('poke_failed');
  });
});
