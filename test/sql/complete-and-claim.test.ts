import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cancel } from '../../shared/queue/cancel.ts';
import {
  completeAndClaim,
  type CompleteAndClaimInput,
} from '../../shared/queue/complete-and-claim.ts';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import type { QueueSettings } from '../../shared/queue/queue-settings.ts';
import { setQueuePaused } from '../../shared/queue/set-queue-paused.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  added,
  attemptsOf,
  claimed,
  eventTypes,
  expireLease,
  snapshot,
} from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const CALL = 'select * from leasehold.complete_and_claim($1, $2, $3, $4, $5)';

const set = (queue: string, settings: Partial<QueueSettings>) =>
  configureQueue(db.sql, { queue, settings, actor: 'test' });

/** A queue with this many jobs, the first of them leased. */
async function leased(queue: string, jobs: number, more = {}) {
  const ids: string[] = [];
  for (let i = 0; i < jobs; i += 1) ids.push(await added(db.sql, { queue, ...more }));
  const lease = await claimed(db.sql, queue);
  const next: CompleteAndClaimInput = { ...lease, queue, claimId: uuidv7() };
  return { ids, lease, next };
}

describe('leasehold.complete_and_claim', () => {
  test('B.6 ends one job and takes the next, in one statement and one commit', async () => {
    const { ids, next } = await leased('fused', 3);
    const end = await completeAndClaim(db.sql, { ...next, result: { sent: true } });
    expect(end).toMatchObject({
      outcome: 'succeeded',
      moreDue: true,
      next: { jobId: ids[1], queue: 'fused', fencingToken: '1', attempt: 1 },
    });
    expect(await getJob(db.sql, { jobId: ids[0] ?? '' })).toMatchObject({
      state: 'succeeded',
      result: { sent: true },
    });
    expect(await attemptsOf(db.pool, ids[0] ?? '')).toMatchObject([{ outcome: 'succeeded' }]);
    const { rows } = await db.pool.query(
      `select array_agg(e.type order by e.id) as types, count(distinct e.xact_id)::int as commits
       from leasehold.job_events e
       where e.type = 'completed' and e.job_id = $1 or e.type = 'claimed' and e.job_id = $2`,
      [ids[0], ids[1]],
    );
    expect(rows).toEqual([{ types: ['completed', 'claimed'], commits: 1 }]);
  });

  test('the next job may come from another queue, under a lease as asked for', async () => {
    const { ids, next } = await leased('from', 1);
    const other = await added(db.sql, { queue: 'to' });
    const end = await completeAndClaim(db.sql, {
      ...next,
      queue: 'to',
      leaseSeconds: 300,
      leaseAtMost: 120,
    });
    expect(end).toMatchObject({
      outcome: 'succeeded',
      moreDue: false,
      next: { jobId: other, leaseSeconds: 120 },
    });
    expect(await getJob(db.sql, { jobId: ids[0] ?? '' })).toMatchObject({ state: 'succeeded' });
  });

  test('a result that the caller could not keep is named in its place', async () => {
    const { lease, next } = await leased('no result', 1);
    await completeAndClaim(db.sql, { ...next, resultProblem: 'result_not_json' });
    const { rows } = await db.pool.query(
      'select result, result_problem from leasehold.finished_jobs where job_id = $1',
      [lease.jobId],
    );
    expect(rows).toEqual([{ result: null, result_problem: 'result_not_json' }]);
  });

  test('B.3 repeated after a lost answer it gives the same outcome and the same lease', async () => {
    const { ids, next } = await leased('repeat', 3);
    const first = await completeAndClaim(db.sql, { ...next, result: 1 });
    const before = await Promise.all(ids.map((id) => snapshot(db.pool, id)));
    const again = await completeAndClaim(db.sql, { ...next, result: 2 });
    expect(again).toMatchObject({
      outcome: 'succeeded',
      moreDue: true,
      next: {
        jobId: ids[1],
        fencingToken: '1',
        leaseExpiresAt: first.outcome === 'succeeded' ? first.next?.leaseExpiresAt : undefined,
      },
    });
    expect(await Promise.all(ids.map((id) => snapshot(db.pool, id)))).toEqual(before);
  });

  test('a job that was called off ends cancelled, and the next one comes all the same', async () => {
    const { ids, lease, next } = await leased('called off', 2);
    await cancel(db.sql, { jobId: lease.jobId, actor: 'maria' });
    const end = { outcome: 'cancelled', next: { jobId: ids[1] } };
    expect(await completeAndClaim(db.sql, next)).toMatchObject(end);
    expect(await completeAndClaim(db.sql, next)).toMatchObject(end);
    expect(await getJob(db.sql, { jobId: lease.jobId })).toMatchObject({ state: 'cancelled' });
  });

  test.each<[string, (next: CompleteAndClaimInput) => CompleteAndClaimInput]>([
    ['another owner', (next) => ({ ...next, owner: 'worker-b' })],
    ['an old token', (next) => ({ ...next, fencingToken: '0' })],
    ['a token of the future', (next) => ({ ...next, fencingToken: '2' })],
    ['a job that does not exist', (next) => ({ ...next, jobId: uuidv7() })],
    ['an expired lease', (next) => next],
  ])('S1.3 %s: lease lost, nothing changes and nothing is claimed', async (what, change) => {
    const { ids, next } = await leased(what, 2);
    if (what === 'an expired lease') await expireLease(db.pool, next.jobId);
    const before = await Promise.all(ids.map((id) => snapshot(db.pool, id)));
    expect(await completeAndClaim(db.sql, change(next))).toEqual({ outcome: 'lease_lost' });
    const { rows } = await db.pool.query(CALL, [
      change(next).jobId,
      change(next).owner,
      change(next).fencingToken,
      what,
      next.claimId,
    ]);
    expect(rows).toMatchObject([{ outcome: 'lease_lost', job_id: null, more_due: false }]);
    expect(await Promise.all(ids.map((id) => snapshot(db.pool, id)))).toEqual(before);
  });

  test.each<[string, (queue: string) => Promise<unknown>]>([
    ['empty', () => Promise.resolve()],
    ['paused', (queue) => setQueuePaused(db.sql, { queue, paused: true, actor: 'maria' })],
    ['at its rate', (queue) => set(queue, { rate_limit: 1, rate_interval_ms: 86_400_000 })],
    [
      'at its limit',
      async (queue) => {
        await claimed(db.sql, queue, 'worker-b');
        await set(queue, { concurrency_limit: 1 });
      },
    ],
  ])('the queue is %s: the job ends, and nothing comes next', async (what, make) => {
    const { lease, next } = await leased(what, what === 'empty' ? 1 : 3);
    await make(what);
    if (what === 'at its rate') {
      await db.pool.query('insert into leasehold.rate_starts (queue, at) values ($1, now())', [
        what,
      ]);
    }
    expect(await completeAndClaim(db.sql, next)).toEqual({
      outcome: 'succeeded',
      moreDue: what !== 'empty', // held back, and somebody has to look later
      next: undefined,
    });
    expect(await getJob(db.sql, { jobId: lease.jobId })).toMatchObject({ state: 'succeeded' });
    expect(await eventTypes(db.pool, lease.jobId)).toEqual(['created', 'claimed', 'completed']);
  });

  test('S1.15 the place that the job had under a concurrency limit goes to the next one', async () => {
    const { ids, next } = await leased('one place', 2);
    await set('one place', { concurrency_limit: 1 });
    expect(await completeAndClaim(db.sql, next)).toMatchObject({ next: { jobId: ids[1] } });
  });

  test('S1.14 the next job of the same ordering key is released and claimed in the same call', async () => {
    const { ids, next } = await leased('keyed', 3, { orderingKey: 'k' });
    expect(await completeAndClaim(db.sql, next)).toMatchObject({
      moreDue: false,
      next: { jobId: ids[1], orderingKey: 'k' },
    });
    expect(await eventTypes(db.pool, ids[1] ?? '')).toEqual(['created', 'unparked', 'claimed']);
    expect(await eventTypes(db.pool, ids[2] ?? '')).toEqual(['created']);
  });

  test.each<[string, Partial<CompleteAndClaimInput>]>([
    ['lease_seconds', { leaseSeconds: 0 }],
    ['lease_seconds', { leaseSeconds: 3601 }],
    ['lease_at_most', { leaseAtMost: 0 }],
  ])('a bad %s is named, and the completion is not made either: %o', async (field, change) => {
    const queue = JSON.stringify(change);
    const { ids, next } = await leased(queue, 2);
    const before = await Promise.all(ids.map((id) => snapshot(db.pool, id)));
    await expect(completeAndClaim(db.sql, { ...next, ...change })).rejects.toThrow(
      new RegExp(`${field}: must be between 1 and 3600`),
    );
    expect(await Promise.all(ids.map((id) => snapshot(db.pool, id)))).toEqual(before);
  });

  test.each([
    ['queue', 3],
    ['claim_id', 4],
  ])('a missing %s is named, and the completion is not made either', async (field, at) => {
    const { lease, next } = await leased(`no ${field}`, 1);
    const before = await snapshot(db.pool, lease.jobId);
    const values = [lease.jobId, lease.owner, lease.fencingToken, next.queue, next.claimId];
    await expect(db.pool.query(CALL, values.with(at, null as never))).rejects.toMatchObject({
      code: 'LH001',
      message: expect.stringMatching(`^${field}: `) as string,
    });
    expect(await snapshot(db.pool, lease.jobId)).toBe(before);
  });

  test('leasehold.end_succeeded tells the queue of the job, for a repeat too, and none for a lost lease', async () => {
    const { lease } = await leased('ended', 1);
    const end = async (token: string): Promise<unknown> => {
      const { rows } = await db.pool.query<Record<string, unknown>>(
        'select * from leasehold.end_succeeded($1, $2, $3, null, null, false)',
        [lease.jobId, lease.owner, token],
      );
      return rows;
    };
    expect(await end('1')).toEqual([{ outcome: 'succeeded', queue: 'ended', keyed: false }]);
    expect(await end('1')).toEqual([{ outcome: 'succeeded', queue: 'ended', keyed: false }]);
    expect(await end('2')).toMatchObject([{ outcome: 'lease_lost' }]);
  });
});
