/** What docs/transactions.md says to producers in any language: one select in their own transaction. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { getJob } from '../../shared/queue/get-job.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createNotes, notes } from './support/notes.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await createNotes(db.pool);
});
beforeEach(() => db.pool.query('truncate notes'));
afterAll(() => db.drop());

const ONE_LINE = `select job_id, outcome from leasehold.enqueue(leasehold.new_job_id(), 'emails', 'email.send', '{"to": ["a@example.com", "1"]}')`;

describe('plain SQL', () => {
  test('adds a job in the transaction of whoever sends it', async () => {
    const client = await db.pool.connect();
    await client.query('begin');
    await client.query(`insert into notes (note) values ('order')`);
    const { rows } = await client.query<{ job_id: string; outcome: string }>(ONE_LINE);
    const jobId = rows[0]?.job_id ?? '';
    expect(rows).toEqual([{ job_id: jobId, outcome: 'created' }]);
    expect(await getJob(db.sql, { jobId })).toBeUndefined();
    await client.query('commit');
    client.release();
    expect(await getJob(db.sql, { jobId })).toMatchObject({
      state: 'pending',
      queue: 'emails',
      payload: { to: ['a@example.com', '1'] },
    });
    expect(await notes(db.pool)).toEqual(['order']);
  });

  test('rolls back with it', async () => {
    const client = await db.pool.connect();
    await client.query('begin');
    await client.query(`insert into notes (note) values ('order')`);
    const { rows } = await client.query<{ job_id: string }>(ONE_LINE);
    await client.query('rollback');
    client.release();
    expect(await getJob(db.sql, { jobId: rows[0]?.job_id ?? '' })).toBeUndefined();
    expect(await notes(db.pool)).toEqual([]);
  });

  test('a role that may add jobs, and nothing else, is enough', async () => {
    const client = await db.pool.connect();
    await client.query('begin');
    await client.query('set local role leasehold_producer');
    const { rows } = await client.query<{ outcome: string }>(ONE_LINE);
    await client.query('commit');
    client.release();
    expect(rows).toMatchObject([{ outcome: 'created' }]);
  });

  test('takes named arguments, for every field of a job', async () => {
    const { rows } = await db.pool.query<{ job_id: string }>(
      `select job_id from leasehold.enqueue(
         leasehold.new_job_id(), 'emails', 'email.send', '{}',
         p_delay_ms => 60000, p_priority => 'high', p_ordering_key => 'customer-7', p_tags => array['welcome'],
         p_actor => 'shop')`,
    );
    expect(await getJob(db.sql, { jobId: rows[0]?.job_id ?? '' })).toMatchObject({
      priority: 'high',
      ordering_key: 'customer-7',
      tags: ['welcome'],
      created_by: 'shop',
    });
  });
});
