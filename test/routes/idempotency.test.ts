import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { AppDeps } from '../../functions/deps.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import { MAX_PAYLOAD_BYTES } from '../../shared/limits.ts';
import type { Sql } from '../../shared/ports.ts';
import { createAppHarness } from './support/app-harness.ts';
import type { Answer, AppHarness } from './support/app-harness.ts';
import { added, claimedOne, dead, jobOf } from './support/pull.ts';
import type { PulledJob } from './support/pull.ts';

let app: AppHarness;
beforeAll(async () => {
  app = await createAppHarness();
});
afterAll(() => app.close());

const JOB = { queue: 'orders', type: 'order.bill', payload: { order: 17 } };

function send(key: string, body: unknown = JOB, deps?: AppDeps): Promise<Answer> {
  return app
    .request('POST', '/v1/jobs', { body, headers: { 'idempotency-key': key } })
    .then((request) => app.callApp(deps === undefined ? {} : { deps }, request));
}

/** The real port, but a call of one routine does what the test says: before it, or once it has committed. */
function cut(routine: string, when: 'before' | 'after', times = 1): AppDeps {
  let left = times;
  const sql: Sql = {
    query: async (text, values, options) => {
      const meant = text.includes(`leasehold.${routine}(`) && left > 0;
      if (meant) left -= 1;
      if (meant && when === 'before') throw away();
      const rows = await app.http.sql.query<never>(text, values, options);
      if (meant) throw away();
      return rows;
    },
  };
  return app.deps({ sql });
}

function away(): LeaseholdError {
  return new LeaseholdError('database_unavailable', 'Cut off.', { retryAfterSeconds: 1 });
}

async function jobsOf(queue: string): Promise<string[]> {
  const { rows } = await app.database.pool.query<{ id: string }>(
    'select id from leasehold.jobs where queue = $1',
    [queue],
  );
  return rows.map(({ id }) => id);
}

describe('an Idempotency-Key', () => {
  test('makes the second request a replay of the first, byte for byte', async () => {
    const body = { ...JOB, queue: 'replay' };
    const first = await send('replay-1', body);
    const again = await send('"replay-1"', body);
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect([first, again].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([
      null,
      'true',
    ]);
    expect(await jobsOf('replay')).toEqual([first.body['id']]);
  });

  test.each([
    ['another body', JOB, { ...JOB, payload: { order: 18 } }],
    [
      'the same body written otherwise',
      '{"queue":"q","type":"t","payload":1}',
      '{"queue":"q","type":"t", "payload":1}',
    ],
  ])('with %s is 422, never a silent success', async (name, one, other) => {
    await send(name, one);
    expect(await send(name, other)).toMatchObject({
      status: 422,
      body: { code: 'idempotency_key_reused', problems: [{ path: 'Idempotency-Key' }] },
    });
  });

  test('on another path is 422', async () => {
    const headers = { 'idempotency-key': 'path' };
    await app.call('POST', '/v1/queues/p1/pause', { headers });
    expect((await app.call('POST', '/v1/queues/p2/pause', { headers })).status).toBe(422);
  });

  test('of a token for other queues is 422: it is not shown what a wider one was answered', async () => {
    await added(app, 'guarded', { payload: 'secret' });
    const claim = (queues?: readonly string[]): Promise<Answer> =>
      app.call('POST', '/v1/queues/guarded/claims', {
        headers: { 'idempotency-key': 'guarded' },
        ...(queues === undefined ? {} : { queues }),
      });
    expect((await claim(['guarded', 'b'])).body['jobs']).toHaveLength(1);
    expect((await claim(['b', 'guarded'])).headers.get('idempotency-replayed')).toBe('true');
    for (const queues of [['other'], [], undefined]) {
      const refused = await claim(queues);
      expect(refused.status).toBe(422);
      expect(JSON.stringify(refused.body)).not.toContain('secret');
    }
  });

  test('of another actor is another key', async () => {
    const headers = { 'idempotency-key': 'shared' };
    const body = { ...JOB, queue: 'actors' };
    const one = await app.call('POST', '/v1/jobs', { body, headers, actor: 'one' });
    const two = await app.call('POST', '/v1/jobs', { body, headers, actor: 'two' });
    expect([one.status, two.status]).toEqual([201, 201]);
    expect(two.body['id']).not.toBe(one.body['id']);
  });

  test.each(['', 'k'.repeat(256), '"open', 'a\u00e9'])(
    'that breaks the rule is 400: %j',
    async (key) => {
      const refused = await send(key, { ...JOB, queue: 'bad-key' });
      expect(refused).toMatchObject({
        status: 400,
        body: { problems: [{ path: 'Idempotency-Key' }] },
      });
      expect(await jobsOf('bad-key')).toEqual([]);
    },
  );

  test('of 255 characters is taken', async () => {
    expect((await send('k'.repeat(255))).status).toBe(201);
  });

  test('replays a refusal as well', async () => {
    const first = await send('refused', { ...JOB, max_attempts: 0 });
    const again = await send('refused', { ...JOB, max_attempts: 0 });
    expect(first.status).toBe(400);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.headers.get('content-type')).toBe('application/problem+json');
  });

  test('makes a settlement one settlement', async () => {
    const id = await dead(app, 'settled-once');
    const redrive = (): Promise<Answer> =>
      app.call('POST', '/v1/dead-letters/redrive', {
        body: { job_ids: [id], reason: 'r' },
        headers: { 'idempotency-key': 'redrive-1' },
      });
    const [first, again] = [await redrive(), await redrive()];
    expect(again.body).toEqual(first.body);
    expect(again.body).toMatchObject({ settled: 1 });
    expect(await jobOf(app, id)).toMatchObject({ redrives: 1 });
  });

  test('gives a claim the same lease', async () => {
    await added(app, 'claimed-once');
    await added(app, 'claimed-once');
    const claim = async (): Promise<unknown> =>
      (
        await app.call('POST', '/v1/queues/claimed-once/claims', {
          headers: { 'idempotency-key': 'claim-1' },
        })
      ).body;
    expect(await claim()).toEqual(await claim());
    expect((await claimedOne(app, 'claimed-once')).fencing_token).toBe('1');
  });

  test.each([
    [3, 'true'],
    [4, null],
  ])('keeps an answer of up to 1 MiB: %i jobs of 256 KiB', async (limit, replayed) => {
    const queue = `large ${limit}`;
    const payload = 'x'.repeat(MAX_PAYLOAD_BYTES - 2);
    for (let at = 0; at <= limit; at += 1) await added(app, queue, { payload });
    const claim = async (): Promise<Answer> =>
      await app.call('POST', `/v1/queues/${encodeURIComponent(queue)}/claims`, {
        body: { limit },
        headers: { 'idempotency-key': queue },
      });
    const leases = ({ body }: Answer): string[] =>
      (body['jobs'] as PulledJob[]).map(({ id, fencing_token: token }) => `${id} ${token}`);
    const [first, again] = [await claim(), await claim()];
    expect(leases(first)).toHaveLength(limit);
    expect(new Set(leases(again))).toEqual(new Set(leases(first)));
    expect(again.headers.get('idempotency-replayed')).toBe(replayed);
  });

  test('means nothing to a poke', async () => {
    const headers = { 'idempotency-key': 'poke-1' };
    for (const queue of ['a', 'b']) {
      const { status, headers: answered } = await app.call('POST', '/v1/work', {
        body: { queue },
        headers,
      });
      expect([status, answered.get('idempotency-replayed')]).toEqual([200, null]);
    }
  });
});

describe('case D7 a request that was cut off', () => {
  test('after its commit: three retries in parallel give one job and the same id', async () => {
    const body = { ...JOB, queue: 'cut-after' };
    expect((await send('cut-after', body, cut('enqueue_batch', 'after'))).status).toBe(503);
    const [id] = await jobsOf('cut-after');
    const retries = await Promise.all([1, 2, 3].map(() => untilAnswered('cut-after', body)));
    expect(retries.map((answer) => answer.body['id'])).toEqual([id, id, id]);
    expect(await jobsOf('cut-after')).toEqual([id]);
    expect((await send('cut-after', { ...body, payload: 2 })).status).toBe(422);
  });

  test('with the function killed before it could keep the answer', async () => {
    const body = { ...JOB, queue: 'killed' };
    await send('killed', body, cut('end_request', 'before'));
    const [id] = await jobsOf('killed');
    const early = await send('killed', body);
    expect(early).toMatchObject({ status: 409, body: { code: 'idempotency_key_in_flight' } });
    expect(Number(early.headers.get('retry-after'))).toBeGreaterThan(0);
    await app.database.pool.query(
      `update leasehold.idempotency_keys set claimed_until = clock_timestamp() where key = 'killed'`,
    );
    const retries = await Promise.all([1, 2, 3].map(() => untilAnswered('killed', body)));
    expect(retries.map((answer) => answer.body['id'])).toEqual([id, id, id]);
    expect(await jobsOf('killed')).toEqual([id]);
  });

  test('a batch is the same jobs in the same order', async () => {
    const body = {
      jobs: Array.from({ length: 50 }, (_, n) => ({ ...JOB, queue: 'cut-batch', payload: n })),
    };
    const post = async (deps?: AppDeps): Promise<Answer> =>
      await app.callApp(
        deps === undefined ? {} : { deps },
        await app.request('POST', '/v1/jobs/batch', {
          body,
          headers: { 'idempotency-key': 'cut-batch' },
        }),
      );
    await post(cut('enqueue_batch', 'after'));
    const again = await post();
    expect(again.status).toBe(200);
    const jobs = again.body['jobs'] as { id: string; outcome: string }[];
    expect(new Set(jobs.map(({ outcome }) => outcome))).toEqual(new Set(['exists']));
    expect((await jobsOf('cut-batch')).toSorted()).toEqual(jobs.map(({ id }) => id));
  });

  test('a failure of ours frees the key', async () => {
    const body = { ...JOB, queue: 'freed' };
    expect((await send('freed', body, cut('enqueue_batch', 'before'))).status).toBe(503);
    expect((await send('freed', body)).status).toBe(201);
  });

  test('an answer lost on the way from the database is repeated unseen', async () => {
    const body = { ...JOB, queue: 'lost' };
    app.http.endpoint.faults.next({ kind: 'drop_after_commit' }, { match: /begin_request/ });
    app.http.endpoint.faults.next({ kind: 'drop_after_commit' }, { match: /enqueue_batch/ });
    app.http.endpoint.faults.next({ kind: 'drop_after_commit' }, { match: /end_request/ });
    const { body: stored } = await send('lost', body);
    expect(await jobsOf('lost')).toEqual([stored['id']]);
    expect((await send('lost', body)).body).toEqual(stored);
  });
});

/** What a client does: comes back after 409. */
async function untilAnswered(key: string, body: unknown): Promise<Answer> {
  for (;;) {
    const answer = await send(key, body);
    if (answer.body['code'] !== 'idempotency_key_in_flight') return answer;
  }
}
