import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_DELAY_SECONDS } from '../../shared/limits.ts';
import { dueQueues } from '../../shared/queue/due-queues.ts';
import { enqueue } from '../../shared/queue/enqueue.ts';
import { enqueueBatch } from '../../shared/queue/enqueue-batch.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { added, claimed, newJob } from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const DAY_MS = 24 * 60 * 60 * 1000;
/** Wide enough for a slow machine, narrow enough to tell a day from a day and a bit. */
const SLACK_MS = 60_000;

/** A version 7 id of another time. */
function idAt(ms: number): string {
  const time = ms.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}${uuidv7().slice(13)}`;
}

describe('leasehold.enqueue_batch, edges', () => {
  test.each([
    ['a day old', -DAY_MS + SLACK_MS, -DAY_MS - SLACK_MS],
    ['a day ahead', DAY_MS - SLACK_MS, DAY_MS + SLACK_MS],
  ])('an id may be %s and no more', async (_name, within, beyond) => {
    const now = Date.now();
    const actor = 'test';
    const job = newJob({ id: idAt(now + within) });
    expect(await enqueue(db.sql, { job, actor })).toMatchObject({ outcome: 'created' });
    const late = newJob({ id: idAt(now + beyond) });
    await expect(enqueue(db.sql, { job: late, actor })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('within a day') as string,
    });
    expect(await getJob(db.sql, { jobId: late.id })).toBeUndefined();
  });

  test('a due time may be 366 days ahead and no more', async () => {
    const limit = Date.now() + MAX_DELAY_SECONDS * 1000;
    const at = (ms: number): string => new Date(ms).toISOString();
    await added(db.sql, { dueAt: at(limit - SLACK_MS) });
    await expect(added(db.sql, { dueAt: at(limit + SLACK_MS) })).rejects.toThrow(/due_at/);
  });

  test('B.3 a job whose payload is null may be repeated, also by a producer that leaves it out', async () => {
    const job = newJob({ payload: null });
    await enqueue(db.sql, { job, actor: 'test' });
    expect(await enqueue(db.sql, { job, actor: 'test' })).toMatchObject({ outcome: 'exists' });
    const { rows } = await db.pool.query(
      'select outcome from leasehold.enqueue_batch($1::jsonb, $2)',
      [JSON.stringify([{ id: job.id, queue: job.queue, type: job.type }]), 'test'],
    );
    expect(rows).toEqual([{ outcome: 'exists' }]);
  });

  test('two batches with the same ids in opposite orders wait for each other and do not deadlock', async () => {
    for (let round = 0; round < 20; round += 1) {
      const jobs = Array.from({ length: 50 }, () => newJob({ queue: 'crossing' }));
      const outcomes = await Promise.all(
        [jobs, jobs.toReversed()].map((inOrder) =>
          enqueueBatch(db.sql, { jobs: inOrder, actor: 'test' }),
        ),
      );
      const created = outcomes.flat().filter(({ outcome }) => outcome === 'created');
      expect(created).toHaveLength(50);
    }
    const { rows } = await db.pool.query(
      'select deadlocks::int from pg_stat_database where datname = current_database()',
    );
    expect(rows).toEqual([{ deadlocks: 0 }]);
  });
});

test('leasehold.job_document: a running job waits for nothing', async () => {
  const jobId = await added(db.sql, { queue: 'runs' });
  await claimed(db.sql, 'runs');
  expect(await getJob(db.sql, { jobId })).toMatchObject({ state: 'running', waiting_for: null });
});

test('leasehold.due_queues: the cap holds over all lanes together', async () => {
  for (const priority of ['high', 'high', 'low', 'low'] as const) {
    await added(db.sql, { queue: 'capped', priority });
  }
  const { queues: due } = await dueQueues(db.sql, { limit: 100, perQueue: 3 });
  expect(due.find(({ queue }) => queue === 'capped')?.due).toBe(3);
});
