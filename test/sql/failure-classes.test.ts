import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { fail } from '../../shared/queue/fail.ts';
import type { FailureClass } from '../../shared/queue/failure-class.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import type { QueueSettings } from '../../shared/queue/queue-settings.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { added, claimed, makeDue } from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const set = (queue: string, settings: Partial<QueueSettings>) =>
  configureQueue(db.sql, { queue, settings, actor: 'test' });

/** Fails the job with these classes, one an attempt, until it is dead; returns the attempts it had. */
async function failUntilDead(
  queue: string,
  jobId: string,
  classes: readonly FailureClass[],
): Promise<number> {
  for (const [i, failureClass] of classes.entries()) {
    const job = await claimed(db.sql, queue);
    const end = await fail(db.sql, {
      ...job,
      error: { code: `e${i + 1}`, message: `Error ${i + 1}.` },
      failureClass,
    });
    if (end.outcome === 'dead') return i + 1;
    await makeDue(db.pool, jobId);
  }
  return Infinity;
}

const many = (failureClass: FailureClass): FailureClass[] =>
  Array<FailureClass>(20).fill(failureClass);

describe('attempt budgets by failure class', () => {
  test('S1.8 permanent is dead at once, transient has the full budget, unknown a small one', async () => {
    await set('classes', { max_attempts: 6, max_unknown_attempts: 2 });
    for (const [failureClass, attempts, reason] of [
      ['permanent', 1, 'permanent_failure'],
      ['transient', 6, 'attempts_used_up'],
      ['unknown', 2, 'unknown_failures_used_up'],
    ] as const) {
      const jobId = await added(db.sql, { queue: 'classes' });
      expect(await failUntilDead('classes', jobId, many(failureClass))).toBe(attempts);
      expect((await getJob(db.sql, { jobId }))?.dead?.reason).toBe(reason);
    }
  });

  test('S1.8 unknown failures are counted by themselves among transient ones', async () => {
    await set('mixed', { max_attempts: 10, max_unknown_attempts: 2 });
    const jobId = await added(db.sql, { queue: 'mixed' });
    const classes = [
      'transient',
      'unknown',
      'transient',
      'transient',
      'unknown',
      'transient',
    ] as const;
    expect(await failUntilDead('mixed', jobId, classes)).toBe(5);
  });

  test('S1.8 a job may have budgets of its own', async () => {
    const jobId = await added(db.sql, { queue: 'own', maxAttempts: 8, maxUnknownAttempts: 4 });
    expect(await failUntilDead('own', jobId, many('unknown'))).toBe(4);
    const other = await added(db.sql, { queue: 'own', maxAttempts: 7 });
    expect(await failUntilDead('own', other, many('transient'))).toBe(7);
  });

  test('S1.9 no retry starts after the retry budget, whatever attempts are left', async () => {
    await set('budget', { max_attempts: 100, backoff_base_ms: 0 });
    const jobId = await added(db.sql, { queue: 'budget', retryBudgetSeconds: 60 });
    expect(
      (
        await fail(db.sql, {
          ...(await claimed(db.sql, 'budget')),
          error: { code: 'x', message: 'X.' },
          failureClass: 'transient',
        })
      ).outcome,
    ).toBe('pending');
    await db.pool.query(
      `update leasehold.job_state set retry_until = clock_timestamp(), due_at = clock_timestamp() where job_id = $1`,
      [jobId],
    );
    expect(await failUntilDead('budget', jobId, many('transient'))).toBe(1);
    expect((await getJob(db.sql, { jobId }))?.dead?.reason).toBe('retry_budget_used_up');
  });

  test('S1.9 Retry-After is honoured up to the longest backoff, and never shortens the backoff', async () => {
    await set('after', { backoff_base_ms: 0, backoff_cap_ms: 600_000, max_attempts: 100 });
    const wait = async (retryAfterMs: number): Promise<number> => {
      const jobId = await added(db.sql, { queue: 'after' });
      const job = await claimed(db.sql, 'after');
      await fail(db.sql, {
        ...job,
        error: { code: 'x', message: 'X.' },
        failureClass: 'transient',
        retryAfterMs,
      });
      const { rows } = await db.pool.query(
        `select round(extract(epoch from retry_at - ended_at))::int as seconds from leasehold.attempts where job_id = $1`,
        [jobId],
      );
      await db.pool.query('delete from leasehold.job_state where job_id = $1', [jobId]);
      return (rows[0] as { seconds: number }).seconds;
    };
    expect(await wait(120_000)).toBe(120);
    expect(await wait(86_400_000)).toBe(600);
    expect(await wait(-5)).toBe(0);
    await set('after', { backoff_base_ms: 600_000 });
    const waits = [];
    for (let i = 0; i < 20; i += 1) waits.push(await wait(1));
    // Full jitter over 600 s: twenty waits under a minute would happen once in 10²⁰ runs.
    expect(Math.max(...waits)).toBeGreaterThan(60);
  });

  test('case R3 the dead letter shows the last error, and the history of all of them', async () => {
    const jobId = await added(db.sql, { queue: 'r3', maxAttempts: 3 });
    await failUntilDead('r3', jobId, many('transient'));
    expect(await getJob(db.sql, { jobId })).toMatchObject({
      dead: { error: { code: 'e3', message: 'Error 3.' } },
      attempts: [
        { error: { message: 'Error 1.' }, failure_class: 'transient' },
        { error: { message: 'Error 2.' } },
        { error: { message: 'Error 3.' }, next_state: 'dead' },
      ],
    });
  });

  test('an unknown class is refused by name', async () => {
    await expect(
      db.pool.query(`select leasehold.fail(gen_random_uuid(), 'w', 1, '{}', 'odd')`),
    ).rejects.toThrow(/class/);
    for (const bad of [0, 101]) {
      await expect(added(db.sql, { maxUnknownAttempts: bad })).rejects.toThrow(
        /max_unknown_attempts/,
      );
    }
    for (const bad of [0, 31_622_401]) {
      await expect(added(db.sql, { retryBudgetSeconds: bad })).rejects.toThrow(
        /retry_budget_seconds/,
      );
    }
  });
});
