import { neon } from '@neondatabase/serverless';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { officialDriver, type OfficialDriver } from './support/official-driver.ts';

let db: TestDatabase;
let driver: OfficialDriver;
beforeAll(async () => {
  db = await createTestDatabase();
  driver = await officialDriver(db);
  await db.pool.query('create table facts (n int primary key deferrable initially deferred)');
});
beforeEach(() => db.pool.query('truncate facts'));
afterAll(async () => {
  await driver.close();
  await db.drop();
});

async function facts(): Promise<number[]> {
  const { rows } = await db.pool.query<{ n: number }>('select n from facts order by n');
  return rows.map(({ n }) => n);
}

const SETTINGS = `select current_setting('transaction_isolation') as isolation,
  current_setting('transaction_read_only') as read_only, current_setting('transaction_deferrable') as deferrable`;

describe('the official driver, transactions', () => {
  test('statements run in order in one transaction', async () => {
    const { sql } = driver;
    const results = await sql.transaction([
      sql`insert into facts values (1)`,
      sql`select txid_current_if_assigned() is not null as same, count(*)::int as n from facts`,
    ]);
    expect(results).toEqual([[], [{ same: true, n: 1 }]]);
    expect(await facts()).toEqual([1]);
  });

  test('a function may make the queries', async () => {
    expect(await driver.sql.transaction((sql) => [sql`select 1 as n`, sql`select 2 as n`])).toEqual(
      [[{ n: 1 }], [{ n: 2 }]],
    );
  });

  test('an empty transaction is allowed', async () => {
    expect(await driver.sql.transaction([])).toEqual([]);
  });

  test('one failure rolls everything back and is the error', async () => {
    const { sql } = driver;
    const done = sql.transaction([
      sql`insert into facts values (1)`,
      sql`select 1 / 0`,
      sql`insert into facts values (2)`,
    ]);
    await expect(done).rejects.toMatchObject({ name: 'NeonDbError', code: '22012' });
    expect(await facts()).toEqual([]);
  });

  test('a constraint checked at commit fails with its code', async () => {
    const { sql } = driver;
    const done = sql.transaction([
      sql`insert into facts values (1)`,
      sql`insert into facts values (1)`,
    ]);
    await expect(done).rejects.toMatchObject({ code: '23505', constraint: 'facts_pkey' });
    expect(await facts()).toEqual([]);
  });

  test.each([
    ['ReadUncommitted', 'read uncommitted'],
    ['ReadCommitted', 'read committed'],
    ['RepeatableRead', 'repeatable read'],
    ['Serializable', 'serializable'],
  ] as const)('isolation level %s', async (isolationLevel, isolation) => {
    const [rows] = await driver.sql.transaction([driver.sql.query(SETTINGS)], { isolationLevel });
    expect(rows).toEqual([{ isolation, read_only: 'off', deferrable: 'off' }]);
  });

  test('read only and deferrable', async () => {
    const [rows] = await driver.sql.transaction([driver.sql.query(SETTINGS)], {
      isolationLevel: 'Serializable',
      readOnly: true,
      deferrable: true,
    });
    expect(rows).toEqual([{ isolation: 'serializable', read_only: 'on', deferrable: 'on' }]);
    const write = driver.sql.transaction([driver.sql`insert into facts values (1)`], {
      readOnly: true,
    });
    await expect(write).rejects.toMatchObject({ code: '25006' });
  });

  test('options given to neon() hold for its transactions', async () => {
    const sql = neon(driver.connectionString, {
      isolationLevel: 'RepeatableRead',
      fullResults: true,
    });
    const [result] = await sql.transaction([sql.query(SETTINGS)]);
    expect(result).toMatchObject({ rowCount: 1, rows: [{ isolation: 'repeatable read' }] });
  });

  test('the option is isolationLevel: another name is ignored in silence', async () => {
    const options: object = { isolationMode: 'Serializable' };
    const [rows] = await driver.sql.transaction([driver.sql.query(SETTINGS)], options);
    expect(rows).toMatchObject([{ isolation: 'read committed' }]);
  });

  test('arrayMode per transaction and per query', async () => {
    const { sql } = driver;
    const results = await sql.transaction(
      [sql.query('select 1 as n'), sql.query('select 2 as n', [], { arrayMode: false })],
      { arrayMode: true },
    );
    expect(results).toEqual([[[1]], [{ n: 2 }]]);
  });

  test('a local setting lasts for the batch and no longer', async () => {
    const { sql } = driver;
    const [, inside] = await sql.transaction([
      sql`select set_config('leasehold.test', 'on', true)`,
      sql`select current_setting('leasehold.test') as v`,
    ]);
    expect(inside).toEqual([{ v: 'on' }]);
    expect(await sql`select current_setting('leasehold.test', true) as v`).not.toEqual([
      { v: 'on' },
    ]);
  });

  test('the answer repeats the transaction headers', async () => {
    const response = await driver.post(
      { queries: [{ query: 'select 1' }] },
      {
        'neon-batch-isolation-level': 'RepeatableRead',
        'neon-batch-read-only': 'true',
        'neon-batch-deferrable': 'false',
      },
    );
    expect(response.headers.get('neon-batch-isolation-level')).toBe('RepeatableRead');
    expect(response.headers.get('neon-batch-read-only')).toBe('true');
    expect(response.headers.get('neon-batch-deferrable')).toBeNull();
  });
});
