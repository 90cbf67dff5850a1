/** The driver, the endpoint and Postgres together, with things going wrong between them. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startSqlEndpoint } from '../../infra/local/sql-endpoint/endpoint.ts';
import { freePort } from '../../infra/local/free-port.ts';
import { createNeonSql } from '../../shared/database/neon-sql.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createHttpSql, type HttpSql } from '../support/http-sql.ts';
import { NODE_PORTS } from '../support/pg-sql.ts';

const events: string[] = [];
const record = (event: string): void => void events.push(event);
/** No jitter, so no pauses. */
const ports = {
  random: { next: () => 0 },
  log: { info: record, warn: record, error: record },
};

let db: TestDatabase;
let http: HttpSql;
beforeAll(async () => {
  db = await createTestDatabase();
  http = await createHttpSql(db, { ports });
  await db.pool.query('create table public.marks (id int primary key)');
});
beforeEach(async () => {
  events.length = 0;
  await db.pool.query('truncate public.marks');
});
afterEach(() => http.endpoint.faults.clear());
afterAll(async () => {
  await http.close();
  await db.drop();
});

/** Safe to repeat: the row is there afterwards, however often it runs. */
const MARK =
  'insert into public.marks values ($1) on conflict (id) do update set id = excluded.id returning id';

describe('a lost answer', () => {
  test.each([
    { kind: 'drop_before' },
    { kind: 'drop_after_commit' },
    { kind: 'truncate' },
    { kind: 'status', status: 500 },
    { kind: 'status', status: 503, body: 'Shutting down' },
    { kind: 'status', status: 400, body: '<html>' },
    { kind: 'status', status: 200, body: '{"fields":' },
    { kind: 'sql_error', code: '57P01' },
  ] as const)('$kind $status$code: the repeat answers', async (fault) => {
    const before = http.endpoint.requests;
    const { fired } = http.endpoint.faults.next(fault, { times: 3 });
    expect(await http.sql.query(MARK, [1])).toEqual([{ id: 1 }]);
    await fired;
    expect(http.endpoint.requests - before).toBe(4);
    expect(await db.sql.query('select id from public.marks', [])).toEqual([{ id: 1 }]);
    expect(events).toEqual([]);
  });
});

describe('case F5', () => {
  test.each(['40001', '40P01', '55P03'])(
    'case F5 %s once succeeds, five times is a 503',
    async (code) => {
      http.endpoint.faults.next({ kind: 'sql_error', code });
      expect(await http.sql.query(MARK, [1])).toEqual([{ id: 1 }]);
      expect(events).toEqual([]);
      http.endpoint.faults.next({ kind: 'sql_error', code }, { times: 5 });
      await expect(http.sql.query(MARK, [1])).rejects.toMatchObject({
        code: 'database_unavailable',
        sqlState: code,
        retryAfterSeconds: 5,
      });
      expect(await http.sql.query(MARK, [1])).toEqual([{ id: 1 }]);
    },
  );

  test('case F5 a real deadlock: its victim is tried again, and both writes are done', async () => {
    await db.pool.query('insert into public.marks values (1), (2)');
    // Locks row 2, waits at a gate, then wants row 1.
    await db.pool.query(`create function public.lock_two_then_one() returns int language plpgsql
      set deadlock_timeout = '1ms' as $$
      begin
        perform 1 from public.marks where id = 2 for update;
        perform pg_advisory_xact_lock(77);
        perform 1 from public.marks where id = 1 for update;
        return 1;
      end $$`);
    const waiting = async (): Promise<number | undefined> => {
      const { rows } = await db.pool.query<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows[0]?.n;
    };
    const [gate, other] = [await db.pool.connect(), await db.pool.connect()];
    await gate.query('select pg_advisory_lock(77)');
    await other.query(`begin; set local deadlock_timeout = '1h'`);
    await other.query('select 1 from public.marks where id = 1 for update');
    const before = http.endpoint.requests;
    const victim = http.sql.query('select public.lock_two_then_one() as n', []);
    await expect.poll(waiting, { interval: 5 }).toBe(1);
    const survivor = other.query('select 1 from public.marks where id = 2 for update');
    await expect.poll(waiting, { interval: 5 }).toBe(2);
    await gate.query('select pg_advisory_unlock(77)');
    await survivor;
    await other.query('commit');
    expect(await victim).toEqual([{ n: 1 }]);
    expect(http.endpoint.requests - before).toBeGreaterThanOrEqual(2);
    gate.release();
    other.release();
  });
});

describe('R26', () => {
  test.each(['25006', '57P03', '53300'])(
    'R26 %s: database_unavailable, then recovery',
    async (code) => {
      http.endpoint.faults.next({ kind: 'sql_error', code }, { times: 50 });
      for (let call = 0; call < 10; call += 1) {
        await expect(http.sql.query(MARK, [1])).rejects.toMatchObject({
          code: 'database_unavailable',
          retryAfterSeconds: 5,
        });
      }
      expect(await http.sql.query(MARK, [1])).toEqual([{ id: 1 }]);
      // The log of this driver has been told of an outage seconds ago, if an earlier test had one.
      expect(events.length).toBeLessThanOrEqual(2);
    },
  );

  test('R26 connection refused, then recovery without a restart', async () => {
    const port = await freePort();
    const url = new URL(db.pgUrl);
    const upstream = { host: url.hostname, port: Number(url.port) };
    url.port = String(port);
    const sql = createNeonSql({ connectionString: url.href, ...NODE_PORTS, ...ports });
    await expect(sql.query(MARK, [1])).rejects.toMatchObject({
      code: 'database_unavailable',
      cause: { message: expect.stringContaining('ECONNREFUSED') as string },
    });
    const endpoint = await startSqlEndpoint({ port, upstream });
    expect(await sql.query(MARK, [1])).toEqual([{ id: 1 }]);
    expect(events).toEqual(['database_unavailable', 'database_recovered']);
    await endpoint.close();
  });
});

describe('the caller’s abort', () => {
  test('stops the statement and is not tried again', async () => {
    const stop = new AbortController();
    const { fired } = http.endpoint.faults.next({ kind: 'delay', ms: 3_600_000 });
    const before = http.endpoint.requests;
    const reason = new Error('the caller has left');
    const failed = http.sql
      .query(MARK, [1], { signal: stop.signal })
      .catch((error: unknown) => error);
    await fired;
    stop.abort(reason);
    expect(await failed).toBe(reason);
    expect(http.endpoint.requests - before).toBe(1);
    expect(await db.sql.query('select id from public.marks', [])).toEqual([]);
  });

  test('stops a statement over TCP as well', async () => {
    const stop = new AbortController();
    const reason = new Error('the caller has left');
    const slow = db.sql.query('select pg_sleep(60), 1 as abort_me', [], { signal: stop.signal });
    const failed = slow.catch((error: unknown) => error);
    const running = async () => {
      const { rows } = await db.pool.query<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity
         where datname = current_database() and state = 'active' and query like '%1 as abort_me'`,
      );
      return rows[0]?.n;
    };
    await expect.poll(running, { interval: 5 }).toBe(1);
    stop.abort(reason);
    expect(await failed).toBe(reason);
    await expect.poll(running, { interval: 5 }).toBe(0);
  });
});
