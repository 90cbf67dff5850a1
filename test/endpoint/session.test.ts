import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RESET_SESSION } from '../../infra/local/sql-endpoint/session.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { officialDriver, type OfficialDriver } from './support/official-driver.ts';

let db: TestDatabase;
let driver: OfficialDriver;
beforeAll(async () => {
  db = await createTestDatabase();
  // One connection, so that every request meets the session of the one before.
  driver = await officialDriver(db, { poolSize: 1 });
});
afterAll(async () => {
  await driver.close();
  await db.drop();
});

async function backend(): Promise<unknown> {
  const [row] = await driver.sql`select pg_backend_pid() as pid`;
  return row?.['pid'];
}

describe('nothing of a session survives a request', () => {
  test('settings', async () => {
    const pid = await backend();
    await driver.sql`set lock_timeout = '7s'`;
    await driver.sql`select set_config('leasehold.test', 'on', false)`;
    expect(
      await driver.sql`select current_setting('lock_timeout') as lock_timeout, current_setting('leasehold.test', true) as test`,
    ).toEqual([{ lock_timeout: '0', test: '' }]);
    expect(await backend()).toBe(pid);
  });

  test('advisory locks of a session', async () => {
    await driver.sql`select pg_advisory_lock(42)`;
    const { rows } = await db.pool.query('select pg_try_advisory_lock(42) as free');
    expect(rows).toEqual([{ free: true }]);
  });

  test('a transaction left open is rolled back', async () => {
    await driver.sql`create table left_open (n int)`;
    await driver.sql`begin`;
    await driver.sql`insert into left_open values (1)`;
    await driver.sql`rollback`;
    expect(await driver.sql`select count(*)::int as n from left_open`).toEqual([{ n: 1 }]);
    const { rows } = await db.pool.query(
      `select count(*)::int as n from pg_stat_activity
       where datname = current_database() and state like 'idle in transaction%'`,
    );
    expect(rows).toEqual([{ n: 0 }]);
  });

  test('temporary tables, cursors, listeners and sequence state', async () => {
    const { sql } = driver;
    await sql`create temp table scratch (n int)`;
    await sql`create sequence numbers`;
    await sql`select nextval('numbers')`;
    await sql`listen news`;
    await sql.transaction([sql`declare held cursor with hold for select 1`]);
    await expect(sql`select * from scratch`).rejects.toMatchObject({ code: '42P01' });
    await expect(sql`select currval('numbers')`).rejects.toMatchObject({ code: '55000' });
    await expect(sql`fetch held`).rejects.toMatchObject({ code: '34000' });
    expect(await sql`select count(*)::int as n from pg_listening_channels()`).toEqual([{ n: 0 }]);
  });

  test('a role taken on', async () => {
    await driver.sql`set role pg_read_all_data`;
    expect(await driver.sql`select current_user = session_user as self`).toEqual([{ self: true }]);
  });

  test('and the cleaning leaves no warning in the log', async () => {
    const client = await db.pool.connect();
    const notices: unknown[] = [];
    client.on('notice', ({ message }) => notices.push(message));
    await client.query(RESET_SESSION);
    client.release(true);
    expect(notices).toEqual([]);
  });

  test('and no prepared statement has a name', async () => {
    await driver.sql`select 1`;
    expect(await driver.sql`select count(*)::int as n from pg_prepared_statements`).toEqual([
      { n: 0 },
    ]);
  });
});
