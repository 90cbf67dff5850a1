import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cancel } from '../../shared/queue/cancel.ts';
import { claim } from '../../shared/queue/claim.ts';
import { complete } from '../../shared/queue/complete.ts';
import { editJob } from '../../shared/queue/edit-job.ts';
import { fail } from '../../shared/queue/fail.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { heartbeat } from '../../shared/queue/heartbeat.ts';
import { release } from '../../shared/queue/release.ts';
import { settle } from '../../shared/queue/settle.ts';
import { snooze } from '../../shared/queue/snooze.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  added,
  attemptsOf,
  claimed,
  eventTypes,
  expireLease,
  makeDue,
  snapshot,
} from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const error = { code: 'timeout', message: 'No answer.' };
const callOff = (jobId: string) =>
  cancel(db.sql, { jobId, actor: 'maria', reason: 'ordered twice' });

describe('leasehold.cancel and leasehold.end_cancelled', () => {
  test('a pending job ends at once, with who and why', async () => {
    const jobId = await added(db.sql, { queue: 'pending', delayMs: 60_000 });
    expect(await callOff(jobId)).toBe('cancelled');
    expect(await getJob(db.sql, { jobId })).toMatchObject({
      state: 'cancelled',
      reason: 'ordered twice',
      finished_by: 'maria',
    });
    expect(await eventTypes(db.pool, jobId)).toEqual(['created', 'cancelled']);
    const after = await snapshot(db.pool, jobId);
    expect(await callOff(jobId)).toBe('already_ended');
    expect(await snapshot(db.pool, jobId)).toBe(after);
    expect(await callOff(uuidv7())).toBe('not_found');
  });

  test('the holder of a running job hears at its next heartbeat, and a repeated request changes nothing', async () => {
    const jobId = await added(db.sql, { queue: 'running' });
    const job = await claimed(db.sql, 'running');
    expect(await callOff(jobId)).toBe('cancel_requested');
    expect(await callOff(jobId)).toBe('cancel_requested');
    expect(await heartbeat(db.sql, { ...job, step: 1 })).toMatchObject({
      outcome: 'held',
      cancelRequested: true,
    });
    expect(await getJob(db.sql, { jobId })).toMatchObject({
      state: 'running',
      cancel_requested: { by: 'maria', reason: 'ordered twice' },
    });
    expect(await eventTypes(db.pool, jobId)).toEqual([
      'created',
      'claimed',
      'cancel_requested',
      'heartbeat',
    ]);
  });

  test('case G1 a cancel after the last heartbeat is seen by the completing statement itself', async () => {
    const jobId = await added(db.sql, { queue: 'g1' });
    const job = await claimed(db.sql, 'g1');
    await callOff(jobId);
    const first = await complete(db.sql, { ...job, result: { sent: true } });
    expect(first.outcome).toBe('cancelled');
    expect(await complete(db.sql, { ...job, result: { sent: true } })).toEqual(first);
    expect(await getJob(db.sql, { jobId })).toMatchObject({
      state: 'cancelled',
      result: { sent: true },
      attempts: [{ outcome: 'succeeded', next_state: 'cancelled' }],
    });
    expect(await eventTypes(db.pool, jobId)).toEqual([
      'created',
      'claimed',
      'cancel_requested',
      'completed',
      'cancelled',
    ]);
  });

  test('case G1 a cancel still uncommitted when complete starts: complete waits, then sees it', async () => {
    const jobId = await added(db.sql, { queue: 'g1 open' });
    const job = await claimed(db.sql, 'g1 open');
    const person = await db.pool.connect();
    try {
      await person.query('begin');
      await person.query(`select leasehold.cancel($1, 'maria')`, [jobId]);
      const report = complete(db.sql, job);
      await person.query('commit');
      expect((await report).outcome).toBe('cancelled');
    } finally {
      person.release();
    }
    expect((await getJob(db.sql, { jobId }))?.state).toBe('cancelled');
  });

  test('case G1 a complete still uncommitted when cancel starts: cancel waits, then finds it ended', async () => {
    const jobId = await added(db.sql, { queue: 'g1 late' });
    const job = await claimed(db.sql, 'g1 late');
    const worker = await db.pool.connect();
    try {
      await worker.query('begin');
      await worker.query('select leasehold.complete($1, $2, $3)', [
        jobId,
        job.owner,
        job.fencingToken,
      ]);
      const request = callOff(jobId);
      await worker.query('commit');
      expect(await request).toBe('already_ended');
    } finally {
      worker.release();
    }
    expect((await getJob(db.sql, { jobId }))?.state).toBe('succeeded');
  });

  const ends: Record<string, (job: Awaited<ReturnType<typeof claimed>>) => Promise<unknown>> = {
    fails: async (job) =>
      (await fail(db.sql, { ...job, error, failureClass: 'transient' })).outcome,
    'fails for good': async (job) =>
      (await fail(db.sql, { ...job, error, failureClass: 'permanent' })).outcome,
    snoozes: async (job) => (await snooze(db.sql, { ...job, delayMs: 1 })).outcome,
    releases: async (job) => (await release(db.sql, job)).outcome,
    vanishes: async (job) => {
      await expireLease(db.pool, job.jobId);
      const next = await claim(db.sql, { queue: job.queue, owner: 'next', claimId: uuidv7() });
      return next.outcome === 'empty' ? 'cancelled' : next.outcome;
    },
    'vanishes and nobody claims': async (job) => {
      await expireLease(db.pool, job.jobId);
      const { settled } = await settle(db.sql, { queue: job.queue, limit: 5, actor: 'drain' });
      return settled === 1 ? 'cancelled' : 'not settled';
    },
  };

  test.each(Object.keys(ends))(
    'a called-off job whose attempt %s ends as cancelled and is not run again',
    async (what) => {
      const queue = `off ${what}`;
      const jobId = await added(db.sql, { queue });
      const job = await claimed(db.sql, queue);
      await callOff(jobId);
      expect(await ends[what]?.(job)).toBe('cancelled');
      expect(await getJob(db.sql, { jobId })).toMatchObject({
        state: 'cancelled',
        reason: 'ordered twice',
      });
      expect(await claim(db.sql, { queue, owner: 'next', claimId: uuidv7() })).toEqual({
        outcome: 'empty',
      });
    },
  );

  test('a job whose lease ran out is cancelled at once, its attempt on record', async () => {
    const jobId = await added(db.sql, { queue: 'ran out' });
    const job = await claimed(db.sql, 'ran out');
    await expireLease(db.pool, jobId);
    expect(await callOff(jobId)).toBe('cancelled');
    expect(await attemptsOf(db.pool, jobId)).toMatchObject([
      { outcome: 'lease_expired', next_state: 'cancelled' },
    ]);
    expect(await complete(db.sql, job)).toEqual({ outcome: 'lease_lost' });
  });
});

describe('leasehold.snooze, leasehold.release, leasehold.give_back and leasehold.put_back', () => {
  test('a snoozed job waits, and no attempt is spent', async () => {
    const jobId = await added(db.sql, { queue: 'snooze', maxAttempts: 1 });
    for (let i = 0; i < 3; i += 1) {
      const job = await claimed(db.sql, 'snooze');
      expect(job.attempt).toBe(1);
      const first = await snooze(db.sql, { ...job, delayMs: 3_600_000, reason: 'closed' });
      expect(first.outcome).toBe('pending');
      expect(await snooze(db.sql, { ...job, delayMs: 3_600_000 })).toEqual(first);
      expect(await getJob(db.sql, { jobId })).toMatchObject({
        state: 'pending',
        waiting_for: 'time',
        attempt: 0,
      });
      await makeDue(db.pool, jobId);
    }
    expect(await claimed(db.sql, 'snooze')).toMatchObject({ fencingToken: '4', attempt: 1 });
    expect((await attemptsOf(db.pool, jobId)).map((attempt) => attempt['outcome'])).toEqual(
      Array(3).fill('snoozed'),
    );
  });

  test('a released job is there for the next one at once', async () => {
    const jobId = await added(db.sql, { queue: 'release' });
    const job = await claimed(db.sql, 'release', 'agent-a');
    expect((await release(db.sql, { ...job, reason: 'not my field' })).outcome).toBe('pending');
    expect(await claimed(db.sql, 'release', 'agent-b')).toMatchObject({
      jobId,
      attempt: 1,
      fencingToken: '2',
    });
    expect(await release(db.sql, job)).toMatchObject({ outcome: 'pending' });
    expect(await eventTypes(db.pool, jobId)).toEqual(['created', 'claimed', 'released', 'claimed']);
  });

  test('S1.3 snooze and release of a lost lease change nothing', async () => {
    const jobId = await added(db.sql, { queue: 'lost' });
    const job = await claimed(db.sql, 'lost');
    await expireLease(db.pool, jobId);
    const before = await snapshot(db.pool, jobId);
    expect(await snooze(db.sql, { ...job, delayMs: 1 })).toEqual({ outcome: 'lease_lost' });
    expect(await release(db.sql, job)).toEqual({ outcome: 'lease_lost' });
    expect(await snapshot(db.pool, jobId)).toBe(before);
    for (const delayMs of [0, 31_622_400_001]) {
      await expect(snooze(db.sql, { ...job, delayMs })).rejects.toThrow(/delay_ms: must be/);
    }
  });

  test('case R8 ten jobs behind one that fails with no backoff all get their turn', async () => {
    const { configureQueue } = await import('../../shared/queue/configure-queue.ts');
    await configureQueue(db.sql, { queue: 'r8', settings: { backoff_base_ms: 0 }, actor: 'test' });
    await added(db.sql, { queue: 'r8', maxAttempts: 100, payload: 'fails' });
    for (let i = 0; i < 10; i += 1) await added(db.sql, { queue: 'r8', payload: i });
    const order = [];
    for (let i = 0; i < 11; i += 1) {
      const job = await claimed(db.sql, 'r8');
      order.push(job.payload);
      if (job.payload === 'fails') await fail(db.sql, { ...job, error, failureClass: 'transient' });
      else await complete(db.sql, job);
    }
    expect(order).toEqual(['fails', 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  test('case R7 a job due in two hours is never claimed early, and its lease starts at the claim', async () => {
    const jobId = await added(db.sql, { queue: 'r7', delayMs: 7_200_000 });
    expect(await claim(db.sql, { queue: 'r7', owner: 'w', claimId: uuidv7() })).toEqual({
      outcome: 'empty',
    });
    await makeDue(db.pool, jobId);
    expect(await claimed(db.sql, 'r7')).toMatchObject({ jobId, leaseRemainingMs: 30_000 });
  });
});

describe('leasehold.edit_job', () => {
  test('changes due time and priority of a pending job', async () => {
    const jobId = await added(db.sql, { queue: 'edit', delayMs: 60_000, priority: 'low' });
    expect(
      await editJob(db.sql, {
        jobId,
        priority: 'urgent',
        dueAt: '2020-01-01T00:00:00Z',
        actor: 'maria',
      }),
    ).toBe('edited');
    const job = await claimed(db.sql, 'edit');
    expect(job).toMatchObject({ jobId, priority: 'urgent' });
    expect(await editJob(db.sql, { jobId, priority: 'low', actor: 'maria' })).toBe('not_pending');
    await complete(db.sql, job);
    expect(await editJob(db.sql, { jobId, priority: 'low', actor: 'maria' })).toBe('not_pending');
    expect(await editJob(db.sql, { jobId: uuidv7(), priority: 'low', actor: 'maria' })).toBe(
      'not_found',
    );
    expect(await eventTypes(db.pool, jobId)).toEqual(['created', 'edited', 'claimed', 'completed']);
  });

  test('a job parked behind its key stays parked', async () => {
    await added(db.sql, { queue: 'edit key', orderingKey: 'A' });
    const second = await added(db.sql, { queue: 'edit key', orderingKey: 'A' });
    expect(await editJob(db.sql, { jobId: second, priority: 'urgent', actor: 'maria' })).toBe(
      'edited',
    );
    expect(await getJob(db.sql, { jobId: second })).toMatchObject({
      waiting_for: 'ordering_key',
      priority: 'urgent',
    });
    expect((await claimed(db.sql, 'edit key')).jobId).not.toBe(second);
  });

  test('bad values are refused by name', async () => {
    const jobId = await added(db.sql, { queue: 'edit bad' });
    await expect(
      editJob(db.sql, { jobId, dueAt: '2999-01-01T00:00:00Z', actor: 'm' }),
    ).rejects.toThrow(/due_at/);
    await expect(
      db.pool.query(`select leasehold.edit_job($1, null, 'soon', 'm')`, [jobId]),
    ).rejects.toThrow(/priority/);
  });
});
