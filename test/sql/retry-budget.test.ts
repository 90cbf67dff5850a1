import { afterAll, beforeAll, expect, test } from 'vitest';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { editJob } from '../../shared/queue/edit-job.ts';
import { fail } from '../../shared/queue/fail.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { settle } from '../../shared/queue/settle.ts';
import { snooze } from '../../shared/queue/snooze.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { added, claimed, expireLease, makeDue } from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const DAY_MS = 86_400_000;

/** Ends the job's attempt as failed, and says what becomes of the job. */
async function failed(queue: string): Promise<string> {
  const lease = await claimed(db.sql, queue);
  const error = { code: 'timeout', message: 'No answer.' };
  return (await fail(db.sql, { ...lease, error, failureClass: 'transient' })).outcome;
}

/** As if so many days had passed since the job was made. */
const passed = (jobId: string, days: number): Promise<unknown> =>
  db.pool.query(
    `update leasehold.job_state set retry_until = retry_until - make_interval(days => $2) where job_id = $1`,
    [jobId, days],
  );

test('S1.9 without more, a job made longer ago than its budget is not tried again', async () => {
  const jobId = await added(db.sql, { queue: 'old', retryBudgetSeconds: 3 * 86_400 });
  await passed(jobId, 4);
  expect(await failed('old')).toBe('dead');
});

test('S1.9 the time of a snooze is no part of the retry budget', async () => {
  const jobId = await added(db.sql, { queue: 'snoozed', retryBudgetSeconds: 3 * 86_400 });
  await snooze(db.sql, { ...(await claimed(db.sql, 'snoozed')), delayMs: 4 * DAY_MS });
  await passed(jobId, 4);
  await makeDue(db.pool, jobId);
  expect(await failed('snoozed')).toBe('pending');
});

test('S1.9 nor is that of a later due time', async () => {
  const jobId = await added(db.sql, { queue: 'later', retryBudgetSeconds: 3 * 86_400 });
  const dueAt = new Date(Date.now() + 4 * DAY_MS).toISOString();
  expect(await editJob(db.sql, { jobId, dueAt, actor: 'maria' })).toBe('edited');
  await passed(jobId, 4);
  await makeDue(db.pool, jobId);
  expect(await failed('later')).toBe('pending');
});

test('S1.9 a job whose function was killed again is not tried again after its budget either', async () => {
  const thirtyDays = 30 * DAY_MS;
  const settings = { backoff_base_ms: thirtyDays, backoff_cap_ms: thirtyDays };
  await configureQueue(db.sql, { queue: 'killed', settings, actor: 'test' });
  const jobId = await added(db.sql, { queue: 'killed', retryBudgetSeconds: 60 });
  for (const state of ['pending', 'dead']) {
    await claimed(db.sql, 'killed');
    await expireLease(db.pool, jobId);
    await settle(db.sql, { queue: 'killed', limit: 1, actor: 'drain' });
    expect(await getJob(db.sql, { jobId })).toMatchObject({ state });
  }
});
