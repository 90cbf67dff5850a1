import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blockedKeys } from '../../shared/queue/blocked-keys.ts';
import { claim } from '../../shared/queue/claim.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import type { Lease } from '../../shared/queue/lease.ts';
import { settleEscalated, type Decision } from '../../shared/queue/settle-escalated.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { escalated, escalating, eventsOf, failUntilOut, held } from './support/escalated.ts';
import { added, claimed, snapshot } from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const settled = async ({ jobId, owner, fencingToken }: Lease, decision: Decision) =>
  await settleEscalated(db.sql, { jobId, owner, fencingToken, ...decision });

describe('leasehold.settle_escalated, leasehold.revive and leasehold.end_hold', () => {
  test('S2.4 completes it: the job has succeeded, by them', async () => {
    await escalating(db, 'complete');
    const jobId = await escalated(db, { queue: 'complete' });
    const job = await held(db, jobId);
    const end = { action: 'complete', result: { paid: true }, note: 'By hand.' } as const;
    expect(await settled(job, end)).toEqual({ outcome: 'succeeded' });
    const once = await snapshot(db.pool, jobId);
    expect(await settled(job, end)).toEqual({ outcome: 'succeeded' });
    expect(await snapshot(db.pool, jobId)).toBe(once);
    expect(await getJob(db.sql, { jobId })).toMatchObject({
      state: 'succeeded',
      finished_by: 'maria',
      result: { paid: true },
      escalated: null,
      attempts: [
        { outcome: 'failed', next_state: 'escalated' },
        { outcome: 'succeeded', next_state: 'succeeded', owner: 'maria', fencing_token: '2' },
      ],
    });
    expect((await eventsOf(db, jobId)).at(-1)).toMatchObject({
      type: 'completed',
      actor: 'maria',
      details: { lane: 'human', note: 'By hand.' },
    });
  });

  test('S2.4 sends it back: fresh budgets, and the note for the next holders', async () => {
    await escalating(db, 'back');
    const jobId = await added(db.sql, { queue: 'back' });
    await failUntilOut(db, 'back', jobId);
    const job = await held(db, jobId);
    const back = { action: 'send_back', note: 'Use the invoice address.' } as const;
    const sent = await settled(job, back);
    expect(sent.outcome).toBe('pending');
    expect(await settled(job, back)).toEqual(sent);
    expect((await eventsOf(db, jobId)).at(-1)).toMatchObject({
      type: 'redriven',
      actor: 'maria',
      token: job.fencingToken,
      details: {
        lane: 'human',
        reason: 'sent_back',
        note: 'Use the invoice address.',
        redrives: 1,
      },
    });

    expect(await claimed(db.sql, 'back')).toMatchObject({
      jobId,
      attempt: 1,
      redrives: 1,
      note: 'Use the invoice address.',
      fencingToken: '5',
    });
    await db.pool.query(`select leasehold.release($1, 'worker-a', 5)`, [jobId]);
    // Three failures more, then a person again, who sees what was last said.
    expect(await failUntilOut(db, 'back', jobId)).toEqual([3, 'escalated']);
    expect((await held(db, jobId)).note).toBe('Use the invoice address.');
  });

  test('S2.4 discards it: the job ends as cancelled', async () => {
    await escalating(db, 'discard');
    const jobId = await escalated(db, { queue: 'discard' });
    const job = await held(db, jobId);
    const end = { action: 'discard', reason: 'The order was withdrawn.' } as const;
    expect(await settled(job, end)).toEqual({ outcome: 'cancelled' });
    const once = await snapshot(db.pool, jobId);
    expect(await settled(job, end)).toEqual({ outcome: 'cancelled' });
    expect(await snapshot(db.pool, jobId)).toBe(once);
    expect(await getJob(db.sql, { jobId })).toMatchObject({
      state: 'cancelled',
      reason: 'The order was withdrawn.',
      finished_by: 'maria',
    });
  });

  test('lets go of it: the next person may take it', async () => {
    await escalating(db, 'release');
    const jobId = await escalated(db, { queue: 'release' });
    const job = await held(db, jobId);
    expect(await settled(job, { action: 'release' })).toEqual({
      outcome: 'escalated',
    });
    expect(await settled(job, { action: 'release' })).toEqual({
      outcome: 'escalated',
    });
    expect((await eventsOf(db, jobId)).at(-1)).toMatchObject({ type: 'released', actor: 'maria' });
    expect(await held(db, jobId, 'tom')).toMatchObject({ fencingToken: '3' });
  });

  test('who does not hold it cannot, and the other ways to settle it are over', async () => {
    await escalating(db, 'not-mine');
    const jobId = await escalated(db, { queue: 'not-mine' });
    const job = await held(db, jobId);
    const before = await snapshot(db.pool, jobId);
    for (const other of [{ owner: 'tom' }, { fencingToken: '1' }, { jobId: uuidv7() }]) {
      for (const decision of [
        { action: 'complete' },
        { action: 'send_back', note: 'x' },
        { action: 'discard', reason: 'x' },
        { action: 'release' },
      ] as const) {
        expect(await settled({ ...job, ...other }, decision)).toEqual({
          outcome: 'lease_lost',
        });
      }
    }
    expect(await snapshot(db.pool, jobId)).toBe(before);
    await settled(job, { action: 'discard', reason: 'x' });
    expect(await settled(job, { action: 'complete' })).toEqual({
      outcome: 'lease_lost',
    });
  });

  test.each([
    [{ action: 'send_back', note: '' }, /note: give 1 to 4000/],
    [{ action: 'send_back', note: 'x'.repeat(4001) }, /note: give 1 to 4000/],
    [{ action: 'complete', note: 'x'.repeat(4001) }, /note: give at most 4000/],
    [{ action: 'discard', reason: '' }, /reason: give 1 to 1000/],
    [{ action: 'discard', reason: 'x'.repeat(1001) }, /reason: give 1 to 1000/],
  ] as const)('words out of range are refused: %j', async (decision, problem) => {
    const lease = { jobId: uuidv7(), owner: 'maria', fencingToken: '1' };
    await expect(settleEscalated(db.sql, { ...lease, ...decision })).rejects.toThrow(problem);
  });
});

describe('keys and escalated jobs', () => {
  test('an ordering key waits for the person, and goes on in its order', async () => {
    await escalating(db, 'keyed');
    const first = await escalated(db, { queue: 'keyed', orderingKey: 'a' });
    const second = await added(db.sql, { queue: 'keyed', orderingKey: 'a' });
    expect(await blockedKeys(db.sql, { queue: 'keyed', limit: 10 })).toMatchObject([
      { orderingKey: 'a', waiting: 1, blockedBy: first, blockedByState: 'escalated' },
    ]);
    const empty = await claim(db.sql, { queue: 'keyed', owner: 'w', claimId: uuidv7() });
    expect(empty.outcome).toBe('empty');

    const job = await held(db, first);
    await settled(job, { action: 'send_back', note: 'Try again.' });
    expect((await claimed(db.sql, 'keyed')).jobId).toBe(first);
    await db.pool.query(`select leasehold.fail($1, 'worker-a', 3, '{}', 'permanent')`, [first]);
    await settled(await held(db, first), { action: 'complete' });
    expect((await claimed(db.sql, 'keyed')).jobId).toBe(second);
  });

  test('with on_dead continue the key does not wait', async () => {
    await escalating(db, 'goes-on', { on_dead: 'continue' });
    await escalated(db, { queue: 'goes-on', orderingKey: 'a' });
    const next = await added(db.sql, { queue: 'goes-on', orderingKey: 'a' });
    expect((await claimed(db.sql, 'goes-on')).jobId).toBe(next);
  });

  test('a dedup key that a live job has meanwhile keeps it here, and the hold goes on', async () => {
    await escalating(db, 'dedup');
    const jobId = await escalated(db, { queue: 'dedup', dedupKey: 'order-7' });
    const clash = await added(db.sql, { queue: 'dedup', dedupKey: 'order-7' });
    const job = await held(db, jobId);
    const before = await snapshot(db.pool, jobId);
    expect(await settled(job, { action: 'send_back', note: 'x' })).toEqual({
      outcome: 'dedup_key_taken',
      clash,
    });
    expect(await snapshot(db.pool, jobId)).toBe(before);
    expect((await settled(job, { action: 'complete' })).outcome).toBe('succeeded');
  });
});
