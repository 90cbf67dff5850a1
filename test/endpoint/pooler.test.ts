/** The endpoint before PgBouncer in transaction mode: no named statement, no start-up option, a reset in one query. */
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { RESET_SESSION } from '../../infra/local/sql-endpoint/session.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { poolerBinary, startPooler, type Pooler } from '../support/pooler.ts';
import { officialDriver, type OfficialDriver } from './support/official-driver.ts';

test('the session reset has no statement that is refused in a list or breaks a pooler', async () => {
  expect(RESET_SESSION).not.toMatch(/discard all|deallocate/i);
  const database = await createTestDatabase();
  await expect(database.pool.query(RESET_SESSION)).resolves.toBeDefined();
  await database.drop();
});

const binary = poolerBinary();

describe.runIf(binary !== undefined)('case L1 behind PgBouncer', () => {
  let db: TestDatabase;
  let pooler: Pooler;
  let driver: OfficialDriver;
  let sql: OfficialDriver['sql'];
  beforeAll(async () => {
    db = await createTestDatabase();
    pooler = await startPooler(binary ?? '', inject('cluster'));
    const url = new URL(db.pgUrl);
    url.port = String(pooler.port);
    driver = await officialDriver({ pgUrl: url.href });
    sql = driver.sql;
  });
  afterAll(async () => {
    await driver.close();
    await pooler.stop();
    await db.drop();
  });

  test('case L1 twenty clients share two connections, singles and batches', async () => {
    await db.pool.query('create table public.shared_by_all (n int)');
    const work = Array.from({ length: 100 }, (_, n) =>
      n % 2 === 0
        ? sql`insert into public.shared_by_all values (${n}::int) returning n`
        : sql
            .transaction([
              sql`insert into public.shared_by_all values (${n}::int)`,
              sql`select count(*)::int as n from public.shared_by_all where n = ${n}::int`,
            ])
            .then(([, rows]) => rows),
    );
    const answers = await Promise.all(work);
    expect(answers.map((rows) => rows?.[0])).toEqual(
      Array.from({ length: 100 }, (_, n) => ({ n: n % 2 === 0 ? n : 1 })),
    );
    const { rows } = await db.pool.query('select count(*)::int as n from public.shared_by_all');
    expect(rows).toEqual([{ n: 100 }]);
  });

  test('case L1 an error leaves the connection usable', async () => {
    await expect(sql.transaction([sql`select 1 / 0`])).rejects.toMatchObject({ code: '22012' });
    await expect(sql`begin`).resolves.toEqual([]);
    expect(await sql`select 1 as n`).toEqual([{ n: 1 }]);
  });

  test('case L1 a client that goes away has its statement cancelled through the pooler', async () => {
    const stop = new AbortController();
    const slow = sql.query('select pg_sleep(60) as cancel_me', [], {
      fetchOptions: { signal: stop.signal },
    });
    const failed = slow.then(
      () => undefined,
      (error: unknown) => String(error),
    );
    const running = async () => {
      const { rows } = await db.pool.query<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity
         where datname = current_database() and state = 'active' and query like '%as cancel_me'`,
      );
      return rows[0]?.n;
    };
    await expect.poll(running, { interval: 5 }).toBe(1);
    stop.abort();
    expect(await failed).toMatch(/abort/i);
    await expect.poll(running, { interval: 5 }).toBe(0);
  });
});
