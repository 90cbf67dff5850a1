import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { failureOf } from './support/failure-of.ts';
import { officialDriver, type OfficialDriver } from './support/official-driver.ts';

let db: TestDatabase;
let driver: OfficialDriver;
beforeAll(async () => {
  db = await createTestDatabase();
  driver = await officialDriver(db);
  await db.pool.query('create table marks (n int)');
});
beforeEach(() => db.pool.query('truncate marks'));
afterAll(async () => {
  await driver.close();
  await db.drop();
});

/** Holds an advisory lock that a request then waits for, so that the test knows where the request is. */
async function gate(id: number): Promise<pg.PoolClient> {
  const client = await db.pool.connect();
  await client.query('select pg_advisory_lock($1)', [id]);
  return client;
}

async function open(id: number, client: pg.PoolClient): Promise<void> {
  await client.query('select pg_advisory_unlock($1)', [id]);
  client.release();
}

async function waiters(): Promise<number> {
  const { rows } = await db.pool.query<{ n: number }>(
    `select count(*)::int as n from pg_locks
     where locktype = 'advisory' and not granted
       and database = (select oid from pg_database where datname = current_database())`,
  );
  return rows[0]?.n ?? 0;
}

async function marks(): Promise<number> {
  const { rows } = await db.pool.query<{ n: number }>('select count(*)::int as n from marks');
  return rows[0]?.n ?? 0;
}

describe('a client that goes away', () => {
  test('has its running statement cancelled, and nothing of it stays', async () => {
    const client = await gate(1);
    const stop = new AbortController();
    const write = driver.sql.query(
      'with held as materialized (select pg_advisory_xact_lock(1)) insert into marks select 1 from held',
      [],
      { fetchOptions: { signal: stop.signal } },
    );
    const failed = failureOf(write);
    await expect.poll(waiters, { interval: 5 }).toBe(1);
    stop.abort();
    expect(String(await failed)).toMatch(/abort/i);
    await expect.poll(waiters, { interval: 5 }).toBe(0);
    await open(1, client);
    expect(await marks()).toBe(0);
  });

  test('has its batch rolled back before the commit', async () => {
    const client = await gate(2);
    const stop = new AbortController();
    const { sql } = driver;
    const batch = sql.transaction(
      [sql`insert into marks values (1)`, sql`select pg_advisory_xact_lock(2)`, sql`select 1`],
      { fetchOptions: { signal: stop.signal } },
    );
    const failed = failureOf(batch);
    await expect.poll(waiters, { interval: 5 }).toBe(1);
    stop.abort();
    expect(String(await failed)).toMatch(/abort/i);
    await expect.poll(waiters, { interval: 5 }).toBe(0);
    // Returns only when no transaction holds the table any more.
    await client.query('begin; lock table marks; commit');
    await open(2, client);
    expect(await marks()).toBe(0);
  });

  test('has its connection closed: the cancel might come late and hit another', async () => {
    const narrow = await officialDriver(db, { poolSize: 1 });
    const backend = () => narrow.sql`select pg_backend_pid() as pid`;
    const before = await backend();
    expect(await backend()).toEqual(before);
    const client = await gate(5);
    const stop = new AbortController();
    const waiting = narrow.sql.query('select pg_advisory_xact_lock(5)', [], {
      fetchOptions: { signal: stop.signal },
    });
    const failed = failureOf(waiting);
    await expect.poll(waiters, { interval: 5 }).toBe(1);
    stop.abort();
    expect(String(await failed)).toMatch(/abort/i);
    expect(await backend()).not.toEqual(before);
    await open(5, client);
    await narrow.close();
  });

  test('while it waits for a connection leaves the connection to others', async () => {
    const narrow = await officialDriver(db, { poolSize: 1 });
    const client = await gate(3);
    const first = narrow.sql`select pg_advisory_xact_lock(3)`;
    const held = first.then(() => 'done');
    await expect.poll(waiters, { interval: 5 }).toBe(1);
    const stop = new AbortController();
    const second = narrow.sql.query('insert into marks values (1)', [], {
      fetchOptions: { signal: stop.signal },
    });
    const failed = failureOf(second);
    await expect.poll(() => narrow.endpoint.requests, { interval: 5 }).toBe(2);
    stop.abort();
    expect(String(await failed)).toMatch(/abort/i);
    await open(3, client);
    expect(await held).toBe('done');
    expect(await narrow.sql`select count(*)::int as n from marks`).toEqual([{ n: 0 }]);
    await narrow.close();
  });
});

describe('close', () => {
  test('drops what is in flight, cancels it, and leaves no connection', async () => {
    const other = await officialDriver(db);
    const client = await gate(4);
    const waiting = other.sql`select pg_advisory_xact_lock(4)`;
    const failed = failureOf(waiting);
    await expect.poll(waiters, { interval: 5 }).toBe(1);
    await other.close();
    expect(await failed).toMatchObject({
      message: expect.stringContaining('Error connecting') as string,
    });
    await expect.poll(waiters, { interval: 5 }).toBe(0);
    await open(4, client);
    await expect(other.sql`select 1`).rejects.toThrow('Error connecting to database');
  });
});
