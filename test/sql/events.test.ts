import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { complete } from '../../shared/queue/complete.ts';
import { heartbeat } from '../../shared/queue/heartbeat.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { added, claimed, eventTypes } from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

describe('the event log', () => {
  test('S2.5 every transition is a row with actor, time, token and details, in the same transaction', async () => {
    const jobId = await added(db.sql, { queue: 'logged' });
    const job = await claimed(db.sql, 'logged', 'agent-7');
    await heartbeat(db.sql, { ...job, step: 1 });
    await heartbeat(db.sql, { ...job, step: 2, progress: 'half' });
    const client = await db.pool.connect();
    try {
      await client.query('begin');
      await client.query('select leasehold.complete($1, $2, $3)', [
        jobId,
        'agent-7',
        job.fencingToken,
      ]);
      await client.query('rollback');
    } finally {
      client.release();
    }
    expect(await eventTypes(db.pool, jobId)).toEqual([
      'created',
      'claimed',
      'heartbeat',
      'progressed',
    ]);
    await complete(db.sql, job);
    const { rows } = await db.pool.query(
      `select type, actor, fencing_token, xact_id is not null as placed, at is not null as timed
       from leasehold.job_events where job_id = $1 order by id`,
      [jobId],
    );
    const all = { placed: true, timed: true };
    expect(rows).toEqual([
      { type: 'created', actor: 'test', fencing_token: null, ...all },
      { type: 'claimed', actor: 'agent-7', fencing_token: '1', ...all },
      { type: 'heartbeat', actor: 'agent-7', fencing_token: '1', ...all },
      { type: 'progressed', actor: 'agent-7', fencing_token: '1', ...all },
      { type: 'completed', actor: 'agent-7', fencing_token: '1', ...all },
    ]);
  });

  test('S2.5 leasehold.refuse_change: the database itself refuses update, delete and truncate', async () => {
    const jobId = await added(db.sql, { queue: 'kept' });
    const refused = { code: 'LH003' };
    await expect(
      db.pool.query(`update leasehold.job_events set actor = 'x' where job_id = $1`, [jobId]),
    ).rejects.toMatchObject(refused);
    await expect(
      db.pool.query('delete from leasehold.job_events where job_id = $1', [jobId]),
    ).rejects.toMatchObject(refused);
    const { rows } = await db.pool.query(
      `select c.oid::regclass::text as name from pg_class c
       where c.relnamespace = 'leasehold'::regnamespace and c.relname ~ '^job_events' and c.relkind in ('r', 'p')`,
    );
    expect(rows.length).toBeGreaterThan(10);
    for (const { name } of rows as { name: string }[]) {
      await expect(db.pool.query(`truncate ${name}`)).rejects.toMatchObject(refused);
    }
    expect(await eventTypes(db.pool, jobId)).toEqual(['created']);
  });

  test('nobody but the owner may call a routine or read a table', async () => {
    const { rows } = await db.pool.query(
      `select p.proname from pg_proc p
       where p.pronamespace = 'leasehold'::regnamespace and has_function_privilege('public', p.oid, 'execute')
         and p.proname <> 'refuse_change'`,
    );
    expect(rows).toEqual([]);
    await db.pool.query('drop role if exists stranger');
    await db.pool.query('create role stranger');
    const client = await db.pool.connect();
    try {
      await client.query('set role stranger');
      await expect(client.query('select * from leasehold.jobs')).rejects.toMatchObject({
        code: '42501',
      });
      await expect(
        client.query(`select leasehold.claim('q', 'w', gen_random_uuid())`),
      ).rejects.toMatchObject({
        code: '42501',
      });
      await client.query('reset role');
    } finally {
      client.release();
    }
  });
});
