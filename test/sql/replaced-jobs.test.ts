import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { complete } from '../../shared/queue/complete.ts';
import { enqueue } from '../../shared/queue/enqueue.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { added, claimed, newJob } from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const replace = (queue: string, orderingKey: string): ReturnType<typeof enqueue> =>
  enqueue(db.sql, {
    job: newJob({ queue, orderingKey, dedupKey: 'd', onDuplicate: 'replace' }),
    actor: 'test',
  });

describe('a job that replaces another with its dedup key', () => {
  test('S1.14 takes its place in the ordering key', async () => {
    const queue = 'place';
    const head = await added(db.sql, { queue, orderingKey: 'A' });
    const old = await added(db.sql, { queue, orderingKey: 'A', dedupKey: 'd' });
    const last = await added(db.sql, { queue, orderingKey: 'A' });
    const { jobId, outcome } = await replace(queue, 'A');
    expect(outcome).toBe('created');
    expect(await getJob(db.sql, { jobId: old })).toMatchObject({ state: 'cancelled' });
    const order: string[] = [];
    for (let i = 0; i < 3; i += 1) {
      const job = await claimed(db.sql, queue);
      order.push(job.jobId);
      await complete(db.sql, job);
    }
    expect(order).toEqual([head, jobId, last]);
  });

  test('gives way to it when that has another ordering key', async () => {
    const queue = 'other key';
    const old = await added(db.sql, { queue, orderingKey: 'A', dedupKey: 'd' });
    expect(await replace(queue, 'B')).toMatchObject({ outcome: 'duplicate', jobId: old });
    expect((await claimed(db.sql, queue)).jobId).toBe(old);
  });
});
