import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { enqueue } from '../../shared/queue/enqueue.ts';
import { jobQueues } from '../../shared/queue/job-queues.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

test('jobs are found with their queues, ids that are no jobs are left out', async () => {
  const [a, b, missing] = [uuidv7(), uuidv7(), uuidv7()];
  for (const [id, queue] of [
    [a, 'one'],
    [b, 'two'],
  ] as const) {
    await enqueue(db.sql, { job: { id, queue, type: 't', payload: null }, actor: 'test' });
  }
  const found = await jobQueues(db.sql, { jobIds: [b, missing, a] });
  expect(Object.fromEntries(found)).toEqual({ [a]: 'one', [b]: 'two' });
});
