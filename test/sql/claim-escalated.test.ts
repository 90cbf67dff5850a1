import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { claimEscalated } from '../../shared/queue/claim-escalated.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { listEscalations } from '../../shared/queue/list-escalations.ts';
import { noteDeadLetter } from '../../shared/queue/note-dead-letter.ts';
import { setQueuePaused } from '../../shared/queue/set-queue-paused.ts';
import { settleEscalated } from '../../shared/queue/settle-escalated.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { escalated, escalating, eventsOf, expireHold, held } from './support/escalated.ts';
import { snapshot } from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const take = async (owner: string, wanted: { queue?: string; jobId?: string } = {}) =>
  await claimEscalated(db.sql, { owner, claimId: uuidv7(), ...wanted });

describe('leasehold.claim_escalated and leasehold.expire_hold', () => {
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

  test('a claim id of a hold is no way past another wish, or past the queues of a token', async () => {
    await escalating(db, 'wide');
    const jobId = await escalated(db, { queue: 'wide' });
    const other = await escalated(db, { queue: 'wide' });
    const input = { owner: 'maria', claimId: uuidv7() };
    await claimEscalated(db.sql, { ...input, jobId });
    for (const wish of [{ only: ['narrow'] }, { queue: 'narrow' }, { jobId: other }]) {
      await expect(claimEscalated(db.sql, { ...input, ...wish })).rejects.toThrow(
        /claim_id: is in use/,
      );
    }
    for (const wish of [{ only: ['wide'] }, { queue: 'wide' }, { jobId }, {}]) {
      expect((await claimEscalated(db.sql, { ...input, ...wish }))?.jobId).toBe(jobId);
    }
  });

  test('S2.2 a hold that ran out is free for the next claim, which puts its end on record', async () => {
    await escalating(db, 'expired');
    const jobId = await escalated(db, { queue: 'expired' });
    const lost = await held(db, jobId, 'maria');
    await expireHold(db, jobId);
    expect((await getJob(db.sql, { jobId }))?.escalated?.held_by).toBeNull();
    const late = async () =>
      await settleEscalated(db.sql, {
        jobId,
        owner: 'maria',
        fencingToken: lost.fencingToken,
        action: 'complete',
      });
    expect(await late()).toEqual({ outcome: 'lease_lost' });
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
    expect(await late()).toEqual({ outcome: 'lease_lost' });
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
