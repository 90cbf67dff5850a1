import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { claimBatch } from '../../shared/queue/claim-batch.ts';
import { claim } from '../../shared/queue/claim.ts';
import { enqueue } from '../../shared/queue/enqueue.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

async function add(queue: string): Promise<void> {
  const job = { id: uuidv7(), queue, type: 't', payload: null };
  await enqueue(db.sql, { job, actor: 'test' });
}

test('B.3 S3.6 while a claim id holds a lease in one queue it takes nothing from another', async () => {
  const ask = { owner: 'w', claimId: uuidv7() };
  await add('first');
  await add('second');
  const taken = await claim(db.sql, { ...ask, queue: 'first' });
  expect(taken.outcome).toBe('claimed');
  expect(await claimBatch(db.sql, { ...ask, queue: 'second', limit: 5 })).toEqual([]);
  // Another claim, or another owner, is not held up by it.
  expect((await claim(db.sql, { ...ask, queue: 'second', owner: 'x' })).outcome).toBe('claimed');
});

test('once its lease has run out, the claim id may claim anywhere', async () => {
  const ask = { owner: 'w', claimId: uuidv7() };
  await add('third');
  await add('fourth');
  await claim(db.sql, { ...ask, queue: 'third' });
  await db.pool.query(
    `update leasehold.job_state set due_at = clock_timestamp() where queue = 'third'`,
  );
  expect((await claim(db.sql, { ...ask, queue: 'fourth' })).outcome).toBe('claimed');
});
