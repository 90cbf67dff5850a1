/** The log is evidence: nobody changes it, not even who owns it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { retain } from '../../shared/queue/retain.ts';
import { setQueuePaused } from '../../shared/queue/set-queue-paused.ts';
import { added, claimed, eventTypes } from '../sql/support/lease-core.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let db: TestDatabase;
let jobId: string;
/** Both logs, and every partition there is. */
let tables: readonly string[];
beforeAll(async () => {
  db = await createTestDatabase();
  jobId = await added(db.sql, { queue: 'kept' });
  await claimed(db.sql, 'kept');
  await setQueuePaused(db.sql, { queue: 'kept', paused: true, actor: 'maria' });
  const { rows } = await db.pool.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c
     where c.relnamespace = 'leasehold'::regnamespace and c.relname ~ '^(job|queue)_events'
       and c.relkind in ('r', 'p')`,
  );
  tables = rows.map(({ name }) => name);
});
afterAll(() => db.drop());

const ROLES = ['producer', 'worker', 'consumer', 'reader', 'operator', 'service'];
const CHANGES = (table: string): readonly string[] => [
  `update ${table} set actor = 'nobody'`,
  `delete from ${table}`,
  `truncate ${table}`,
];

/** SQLSTATE of the refusal; undefined: it was carried out. */
async function refusalOf(role: string | undefined, text: string): Promise<string | undefined> {
  const client = await db.pool.connect();
  try {
    await client.query('begin');
    if (role !== undefined) await client.query(`set local role leasehold_${role}`);
    await client.query(text);
    return undefined;
  } catch (error) {
    return (error as { code: string }).code;
  } finally {
    await client.query('rollback');
    client.release();
  }
}

describe('the event log', () => {
  test.each(ROLES)('S2.5 leasehold_%s may not update, delete or truncate it', async (role) => {
    expect(tables.length).toBeGreaterThan(10);
    for (const text of tables.flatMap(CHANGES)) {
      expect([text, await refusalOf(role, text)]).toEqual([text, '42501']);
    }
  });

  test('S2.5 its owner, who is a superuser here, may not either', async () => {
    const { rows } = await db.pool.query<{ name: string }>(
      `select distinct e.tableoid::regclass::text as name from leasehold.job_events e
       union all select 'leasehold.queue_events' union all select 'leasehold.job_events'`,
    );
    const withRows = rows.map(({ name }) => name);
    expect(withRows).toHaveLength(3);
    for (const text of withRows.flatMap(CHANGES)) {
      expect([text, await refusalOf(undefined, text)]).toEqual([text, 'LH003']);
    }
    for (const table of tables) {
      expect([table, await refusalOf(undefined, `truncate ${table}`)]).toEqual([table, 'LH003']);
    }
    await expect(db.pool.query('delete from leasehold.queue_events')).rejects.toMatchObject({
      message: 'leasehold.queue_events is append-only: delete refused',
    });
  });

  test('S2.5 no routine of retention takes rows of a job that is there', async () => {
    await retain(db.sql, { limit: 1000, keyHours: 1 });
    expect(await eventTypes(db.pool, jobId)).toEqual(['created', 'claimed']);
  });
});
