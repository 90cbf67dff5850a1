import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blockedKeys } from '../../shared/queue/blocked-keys.ts';
import { claimEscalated } from '../../shared/queue/claim-escalated.ts';
import { claim } from '../../shared/queue/claim.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import type { Lease } from '../../shared/queue/lease.ts';
import { listEscalations } from '../../shared/queue/list-escalations.ts';
import { noteDeadLetter } from '../../shared/queue/note-dead-letter.ts';
import { setQueuePaused } from '../../shared/queue/set-queue-paused.ts';
import { settleEscalated, type Decision } from '../../shared/queue/settle-escalated.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  escalated,
  escalating,
  eventsOf,
  expireHold,
  failUntilOut,
  held,
} from './support/escalated.ts';
import { added, claimed, snapshot } from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const take = async (owner: string, wanted: { queue?: string; jobId?: string } = {}) =>
  await claimEscalated(db.sql, { owner, claimId: uuidv7(), ...wanted });

const settled = async ({ jobId, owner, fencingToken }: Lease, decision: Decision) =>
  await settleEscalated(db.sql, { jobId, owner, fencingToken, ...decision });

describe('a person takes an escalated job', () => {
  test('S2.1 twenty people race for ten jobs through one claim: each gets another one, or none', async () => {
    await escalating(db, 'race');
    const ids: string[] = [];
    for (let i = 0; i < 10; i += 1) ids.push(await escalated(db, { queue: 'race' }));
    const taken = await Promise.all(
      Array.from({ length: 20 }, (_, i) => take(`person-${i}`, { queue: 'race' })),
    );
    const got = taken.flatMap((job) => (job === undefined ? [] : [job.jobId]));
    expect(got.toSorted()).toEqual(ids.toSorted());
  });

  test('S2.1 people who race for one job: one of them holds it', async () => {
    await escalating(db, 'one');
    const jobId = await escalated(db, { queue: 'one' });
    const taken = await Promise.all(
      Array.from({ length: 10 }, (_, i) => take(`person-${i}`, { jobId })),
    );
    expect(taken.filter((job) => job !== undefined)).toHaveLength(1);
  });

  test('S2.4 the one that has waited longest first, with all that is known of it', async () => {
    await escalating(db, 'oldest');
    const first = await escalated(db, { queue: 'oldest', payload: { order: 7 } });
    const second = await escalated(db, { queue: 'oldest' });
    await noteDeadLetter(db.sql, { jobId: first, owner: 'tom', note: 'asked', actor: 'tom' });
    expect(await take('maria', { queue: 'oldest' })).toMatchObject({
      jobId: first,
      queue: 'oldest',
      payload: { order: 7 },
      fencingToken: '2',
      attempt: 1,
      reason: 'permanent_failure',
      error: { code: 'no_answer' },
      note: 'asked',
    });
    expect((await getJob(db.sql, { jobId: first }))?.escalated).toMatchObject({
      held_by: 'maria',
      fencing_token: '2',
      owner: 'tom',
    });
    expect((await eventsOf(db, first)).at(-1)).toMatchObject({
      type: 'claimed',
      actor: 'maria',
      token: '2',
      details: { lane: 'human', lease_seconds: 900 },
    });
    expect((await take('tom', { queue: 'oldest' }))?.jobId).toBe(second);
    expect(await take('eve', { queue: 'oldest' })).toBeUndefined();
  });

  test('the same claim id gives the same hold, and a longer lease lengthens it', async () => {
    await escalating(db, 'repeats');
    const jobId = await escalated(db, { queue: 'repeats' });
    await escalated(db, { queue: 'repeats' });
    const input = { owner: 'maria', claimId: uuidv7(), queue: 'repeats' };
    const first = await claimEscalated(db.sql, input);
    expect(first?.jobId).toBe(jobId);
    const before = await snapshot(db.pool, jobId);
    expect(await claimEscalated(db.sql, input)).toEqual({
      ...first,
      leaseRemainingMs: expect.any(Number) as number,
    });
    expect(await snapshot(db.pool, jobId)).toBe(before);
    const longer = await claimEscalated(db.sql, { ...input, leaseSeconds: 86_400 });
    expect(longer).toMatchObject({ jobId, fencingToken: first?.fencingToken });
    expect(longer?.leaseRemainingMs).toBeGreaterThan(86_000_000);
    expect((await claimEscalated(db.sql, { ...input, leaseSeconds: 1 }))?.leaseExpiresAt).toEqual(
      longer?.leaseExpiresAt,
    );
    // By its id, from another window; nobody else gets it so.
    expect(await take('maria', { jobId })).toMatchObject({ fencingToken: first?.fencingToken });
    expect(await take('tom', { jobId })).toBeUndefined();
  });

  test('a claim id of somebody else, and fields out of range, are refused', async () => {
    await escalating(db, 'refused');
    await escalated(db, { queue: 'refused' });
    const claimId = uuidv7();
    await claimEscalated(db.sql, { owner: 'maria', claimId, queue: 'refused' });
    await expect(claimEscalated(db.sql, { owner: 'tom', claimId })).rejects.toThrow(
      /claim_id: is in use/,
    );
    for (const leaseSeconds of [0, 86_401]) {
      await expect(
        claimEscalated(db.sql, { owner: 'tom', claimId: uuidv7(), leaseSeconds }),
      ).rejects.toThrow(/lease_seconds: must be between 1 and 86400/);
    }
    await expect(take('')).rejects.toThrow(/owner: give 1 to 200/);
  });

  test('S2.2 a hold that ran out is free for the next claim, which puts its end on record', async () => {
    await escalating(db, 'expired');
    const jobId = await escalated(db, { queue: 'expired' });
    const lost = await held(db, jobId, 'maria');
    await expireHold(db, jobId);
    expect((await getJob(db.sql, { jobId }))?.escalated?.held_by).toBeNull();
    expect(await take('tom', { queue: 'expired' })).toMatchObject({ jobId, fencingToken: '3' });
    expect((await eventsOf(db, jobId)).slice(-2)).toMatchObject([
      {
        type: 'lease_expired',
        actor: 'tom',
        token: '2',
        details: { lane: 'human', owner: 'maria' },
      },
      { type: 'claimed', actor: 'tom', token: '3' },
    ]);
    expect(await settled(lost, { action: 'complete' })).toEqual({
      outcome: 'lease_lost',
    });
    expect((await getJob(db.sql, { jobId }))?.attempts.at(-1)).toMatchObject({
      owner: 'maria',
      outcome: 'lease_expired',
      next_state: 'escalated',
    });
  });

  test('S2.2 with the claim id of a hold that ran out, the job is taken anew', async () => {
    await escalating(db, 'again');
    const jobId = await escalated(db, { queue: 'again' });
    const input = { owner: 'maria', claimId: uuidv7(), queue: 'again' };
    await claimEscalated(db.sql, input);
    await expireHold(db, jobId);
    expect(await claimEscalated(db.sql, input)).toMatchObject({ jobId, fencingToken: '3' });
  });

  test('pauses hold workers, not people; and a caller for certain queues gets no other', async () => {
    await escalating(db, 'paused');
    const jobId = await escalated(db, { queue: 'paused' });
    await setQueuePaused(db.sql, { queue: 'paused', paused: true, actor: 'maria' });
    const claimFor = async (only: readonly string[], more: { jobId?: string } = {}) =>
      await claimEscalated(db.sql, { owner: 'tom', claimId: uuidv7(), only, ...more });
    expect(await claimFor(['elsewhere'])).toBeUndefined();
    expect(await claimFor(['elsewhere'], { jobId })).toBeUndefined();
    expect((await claimFor(['paused']))?.jobId).toBe(jobId);
  });
});

describe('a person settles the job that they hold', () => {
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

describe('leasehold.list_escalations', () => {
  test('by pages, those that have waited longest first, of one queue or of those one may see', async () => {
    await escalating(db, 'listed');
    await escalating(db, 'listed-too');
    const ids: string[] = [];
    for (let i = 0; i < 3; i += 1) {
      ids.push(await escalated(db, { queue: i === 1 ? 'listed-too' : 'listed' }));
    }
    const only = ['listed', 'listed-too'];
    const first = await listEscalations(db.sql, { limit: 2, only });
    expect(first.jobs.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    const second = await listEscalations(db.sql, {
      limit: 2,
      only,
      cursor: String(first.nextCursor),
    });
    expect(second).toMatchObject({ jobs: [{ id: ids[2], state: 'escalated' }], nextCursor: null });
    const queue = await listEscalations(db.sql, { queue: 'listed', limit: 1 });
    expect(queue.jobs.map(({ id }) => id)).toEqual([ids[0]]);
    const rest = await listEscalations(db.sql, {
      queue: 'listed',
      limit: 200,
      cursor: String(queue.nextCursor),
    });
    expect(rest.jobs.map(({ id }) => id)).toEqual([ids[2]]);
    await expect(listEscalations(db.sql, { limit: 201 })).rejects.toThrow(/limit: must be between/);
  });
});
