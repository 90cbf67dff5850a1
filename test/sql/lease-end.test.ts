import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { complete } from '../../shared/queue/complete.ts';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { fail } from '../../shared/queue/fail.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { heartbeat } from '../../shared/queue/heartbeat.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { added, attemptsOf, claimed, eventTypes, makeDue, snapshot } from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const error = { code: 'timeout', message: 'No answer.' };

describe('leasehold.heartbeat', () => {
  test('S1.5 a lease is renewed only with a step that grew or a marker that moved', async () => {
    await configureQueue(db.sql, {
      queue: 'beats',
      settings: { lease_seconds: 100 },
      actor: 'test',
    });
    const jobId = await added(db.sql, { queue: 'beats' });
    const job = await claimed(db.sql, 'beats');
    const shorten = `update leasehold.job_state set due_at = clock_timestamp() + interval '5 seconds' where job_id = $1`;

    await db.pool.query(shorten, [jobId]);
    expect(await heartbeat(db.sql, { ...job, leaseSeconds: 100, step: 0 })).toMatchObject({
      outcome: 'held',
    });
    const kept = await heartbeat(db.sql, { ...job, leaseSeconds: 100, step: 0 });
    expect(kept.outcome === 'held' && kept.leaseRemainingMs).toBeLessThan(6_000);

    const renewed = await heartbeat(db.sql, { ...job, leaseSeconds: 100, step: 1 });
    expect(renewed.outcome === 'held' && renewed.leaseRemainingMs).toBeGreaterThan(90_000);

    await db.pool.query(shorten, [jobId]);
    const moved = await heartbeat(db.sql, {
      ...job,
      leaseSeconds: 100,
      step: 1,
      progress: '10 of 20',
    });
    expect(moved.outcome === 'held' && moved.leaseRemainingMs).toBeGreaterThan(90_000);
    await db.pool.query(shorten, [jobId]);
    const same = await heartbeat(db.sql, {
      ...job,
      leaseSeconds: 100,
      step: 1,
      progress: '10 of 20',
    });
    expect(same.outcome === 'held' && same.leaseRemainingMs).toBeLessThan(6_000);
    expect(await eventTypes(db.pool, jobId)).toEqual([
      'created',
      'claimed',
      'heartbeat',
      'progressed',
    ]);
  });

  test('S1.5 the hard run deadline cannot be renewed away', async () => {
    await configureQueue(db.sql, {
      queue: 'deadline',
      settings: { lease_seconds: 30, max_run_seconds: 60 },
      actor: 'test',
    });
    const jobId = await added(db.sql, { queue: 'deadline' });
    const job = await claimed(db.sql, 'deadline');
    const beat = await heartbeat(db.sql, { ...job, step: 1, leaseSeconds: 3600 });
    expect(beat).toMatchObject({ outcome: 'held', leaseExpiresAt: job.runDeadlineAt });
    await db.pool.query(
      `update leasehold.job_state
       set due_at = clock_timestamp() - interval '1 ms', run_deadline_at = clock_timestamp() - interval '1 ms'
       where job_id = $1`,
      [jobId],
    );
    expect(await heartbeat(db.sql, { ...job, step: 2 })).toEqual({ outcome: 'lease_lost' });
  });

  test('B.3 a repeated heartbeat gives the same expiry and no second event', async () => {
    const jobId = await added(db.sql, { queue: 'beat-repeat' });
    const job = await claimed(db.sql, 'beat-repeat');
    const first = await heartbeat(db.sql, { ...job, step: 1, progress: 'half' });
    const again = await heartbeat(db.sql, { ...job, step: 1, progress: 'half' });
    expect(again).toMatchObject({
      leaseExpiresAt: first.outcome === 'held' && first.leaseExpiresAt,
    });
    expect(await eventTypes(db.pool, jobId)).toEqual(['created', 'claimed', 'progressed']);
  });

  test('a renewal never shortens the lease, and bad values are refused by name', async () => {
    const jobId = await added(db.sql, { queue: 'no-shorter' });
    const job = await claimed(db.sql, 'no-shorter');
    expect(await heartbeat(db.sql, { ...job, step: 1, leaseSeconds: 1 })).toMatchObject({
      leaseExpiresAt: job.leaseExpiresAt,
    });
    await expect(heartbeat(db.sql, { ...job, step: 2, leaseSeconds: 3601 })).rejects.toThrow(
      /lease_seconds/,
    );
    await expect(heartbeat(db.sql, { ...job, step: 2, progress: 'p'.repeat(201) })).rejects.toThrow(
      /progress/,
    );
    expect((await heartbeat(db.sql, { ...job, step: 2, progress: 'p'.repeat(200) })).outcome).toBe(
      'held',
    );
    expect((await getJob(db.sql, { jobId }))?.lease?.progress).toHaveLength(200);
  });
});

describe('leasehold.complete', () => {
  test('S3.4 completing moves the job out of the hot table, with its attempt and event', async () => {
    const jobId = await added(db.sql, { queue: 'done' });
    await added(db.sql, { queue: 'done' });
    const job = await claimed(db.sql, 'done');
    expect(await complete(db.sql, { ...job, result: { sent: true } })).toEqual({
      outcome: 'succeeded',
      moreDue: true,
    });
    const { rows } = await db.pool.query('select 1 from leasehold.job_state where job_id = $1', [
      jobId,
    ]);
    expect(rows).toEqual([]);
    expect(await getJob(db.sql, { jobId })).toMatchObject({
      state: 'succeeded',
      result: { sent: true },
      finished_by: 'worker-a',
      attempts: [{ outcome: 'succeeded', attempt: 1 }],
    });
    expect(await eventTypes(db.pool, jobId)).toEqual(['created', 'claimed', 'completed']);
  });

  test('B.3 a repeated complete says succeeded again and writes nothing', async () => {
    const jobId = await added(db.sql, { queue: 'done-again' });
    const job = await claimed(db.sql, 'done-again');
    const first = await complete(db.sql, { ...job, result: 1 });
    const after = await snapshot(db.pool, jobId);
    expect(await complete(db.sql, { ...job, result: 1 })).toEqual(first);
    expect(await snapshot(db.pool, jobId)).toBe(after);
    expect(await fail(db.sql, { ...job, error, failureClass: 'transient' })).toEqual({
      outcome: 'lease_lost',
    });
    expect(await snapshot(db.pool, jobId)).toBe(after);
  });

  test('case B5 a result over the limit is left out and named; the job still ends', async () => {
    const jobId = await added(db.sql, { queue: 'huge' });
    const job = await claimed(db.sql, 'huge');
    const result = Array.from({ length: 120_000 }, (_, i) => `row number ${i}`);
    expect((await complete(db.sql, { ...job, result })).outcome).toBe('succeeded');
    expect(await getJob(db.sql, { jobId })).toMatchObject({
      state: 'succeeded',
      result: null,
      result_problem: 'result_too_large',
    });
  });
});

describe('leasehold.fail', () => {
  test('a failed job is retried behind its backoff, and dead when attempts are used up', async () => {
    await configureQueue(db.sql, {
      queue: 'fails',
      settings: { backoff_base_ms: 60_000, backoff_cap_ms: 600_000 },
      actor: 'test',
    });
    const jobId = await added(db.sql, { queue: 'fails', maxAttempts: 2, priority: 'low' });
    const first = await claimed(db.sql, 'fails');
    const retry = await fail(db.sql, { ...first, error, failureClass: 'transient' });
    expect(retry.outcome).toBe('pending');
    const delay = retry.outcome === 'pending' ? retry.dueAt.getTime() - Date.now() : 0;
    expect(delay).toBeLessThanOrEqual(60_000);
    await makeDue(db.pool, jobId);
    const second = await claimed(db.sql, 'fails');
    expect(second.priority).toBe('low');
    expect(
      await fail(db.sql, {
        ...second,
        error: { code: 'e2', message: 'Second.' },
        failureClass: 'transient',
      }),
    ).toEqual({
      outcome: 'dead',
      moreDue: false,
    });
    expect(await getJob(db.sql, { jobId })).toMatchObject({
      state: 'dead',
      dead: { reason: 'attempts_used_up', error: { code: 'e2', message: 'Second.' } },
      attempts: [
        { error, next_state: 'pending' },
        { error: { code: 'e2' }, next_state: 'dead' },
      ],
    });
    expect(await eventTypes(db.pool, jobId)).toEqual([
      'created',
      'claimed',
      'failed',
      'claimed',
      'failed',
      'dead',
    ]);
  });

  test('a failure that no attempt can mend is dead at once', async () => {
    const jobId = await added(db.sql, { queue: 'permanent' });
    const job = await claimed(db.sql, 'permanent');
    expect((await fail(db.sql, { ...job, error, failureClass: 'permanent' })).outcome).toBe('dead');
    expect((await getJob(db.sql, { jobId }))?.dead?.reason).toBe('permanent_failure');
  });

  test.each([true, false])(
    'B.3 a repeated fail (retryable: %s) gives the first answer again',
    async (retryable) => {
      const queue = `fail-again-${retryable}`;
      const jobId = await added(db.sql, { queue });
      const job = await claimed(db.sql, queue);
      const first = await fail(db.sql, {
        ...job,
        error,
        failureClass: retryable ? 'transient' : 'permanent',
      });
      const after = await snapshot(db.pool, jobId);
      const again = await fail(db.sql, {
        ...job,
        error,
        failureClass: retryable ? 'transient' : 'permanent',
      });
      expect({ ...again, moreDue: false }).toEqual({ ...first, moreDue: false });
      expect(await snapshot(db.pool, jobId)).toBe(after);
    },
  );

  test('a failure report too large to keep is cut to code and message', async () => {
    const jobId = await added(db.sql, { queue: 'verbose' });
    const job = await claimed(db.sql, 'verbose');
    const trace = Array.from({ length: 3000 }, (_, i) => `frame ${i}`);
    await fail(db.sql, { ...job, error: { ...error, trace }, failureClass: 'transient' });
    expect(await attemptsOf(db.pool, jobId)).toMatchObject([
      { error: { ...error, truncated: true } },
    ]);
  });

  test('a report that is no object still frees the lease', async () => {
    const jobId = await added(db.sql, { queue: 'odd-report' });
    const job = await claimed(db.sql, 'odd-report');
    await db.pool.query(`select leasehold.fail($1, $2, $3, '"just text"')`, [
      jobId,
      job.owner,
      job.fencingToken,
    ]);
    expect(await attemptsOf(db.pool, jobId)).toMatchObject([
      { error_code: 'unknown', error: { message: 'just text' } },
    ]);
  });
});
