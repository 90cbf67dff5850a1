import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
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
afterEach(() => driver.endpoint.faults.clear());
afterAll(async () => {
  await driver.close();
  await db.drop();
});

const mark = () => driver.sql`insert into marks values (1)`;

async function marks(): Promise<number> {
  const { rows } = await db.pool.query<{ n: number }>('select count(*)::int as n from marks');
  return rows[0]?.n ?? 0;
}

describe('the fault switch', () => {
  test('drop_before: nothing was executed', async () => {
    const { fired } = driver.endpoint.faults.next({ kind: 'drop_before' });
    await expect(mark()).rejects.toMatchObject({ code: undefined });
    await fired;
    expect(await marks()).toBe(0);
    await mark();
    expect(await marks()).toBe(1);
  });

  test('drop_after_commit: everything was', async () => {
    driver.endpoint.faults.next({ kind: 'drop_after_commit' });
    await expect(mark()).rejects.toThrow('Error connecting to database');
    expect(await marks()).toBe(1);
  });

  test('drop_after_commit holds for a batch', async () => {
    const { sql } = driver;
    driver.endpoint.faults.next({ kind: 'drop_after_commit' });
    await expect(sql.transaction([mark(), mark()])).rejects.toThrow('Error connecting to database');
    expect(await marks()).toBe(2);
  });

  test('truncate: everything was, and the answer breaks off', async () => {
    driver.endpoint.faults.next({ kind: 'truncate' });
    const failed = await mark().catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(TypeError);
    expect(await marks()).toBe(1);
  });

  test('status: the given status and body, nothing executed', async () => {
    driver.endpoint.faults.next({ kind: 'status', status: 503, body: 'Shutting down' });
    await expect(mark()).rejects.toThrow('Server error (HTTP status 503): Shutting down');
    expect(await marks()).toBe(0);
  });

  test('sql_error: the given SQLSTATE, nothing executed', async () => {
    driver.endpoint.faults.next({ kind: 'sql_error', code: '40001', message: 'made up' });
    await expect(mark()).rejects.toMatchObject({
      message: 'made up',
      code: '40001',
      severity: 'ERROR',
    });
    expect(await marks()).toBe(0);
  });

  test('delay: executed later, or not at all when the client goes', async () => {
    driver.endpoint.faults.next({ kind: 'delay', ms: 10 });
    await mark();
    expect(await marks()).toBe(1);
    const { fired } = driver.endpoint.faults.next({ kind: 'delay', ms: 3_600_000 });
    const stop = new AbortController();
    const late = driver.sql.query('insert into marks values (1)', [], {
      fetchOptions: { signal: stop.signal },
    });
    const failed = failureOf(late);
    await fired;
    stop.abort();
    expect(String(await failed)).toMatch(/abort/i);
    expect(await marks()).toBe(1);
  });

  test('match picks requests, times counts them, the oldest goes first', async () => {
    const { faults } = driver.endpoint;
    const twice = faults.next({ kind: 'status', status: 500 }, { match: /into marks/g, times: 2 });
    faults.next({ kind: 'status', status: 599 });
    await expect(mark()).rejects.toThrow('HTTP status 500');
    await twice.fired;
    await expect(driver.sql`select 1`).rejects.toThrow('HTTP status 599');
    const { sql } = driver;
    await expect(sql.transaction([sql`select 1`, mark()])).rejects.toThrow('HTTP status 500');
    await mark();
    expect(await marks()).toBe(1);
  });

  test('clear forgets what has not hit yet', async () => {
    driver.endpoint.faults.next({ kind: 'drop_before' }, { times: 9 });
    driver.endpoint.faults.clear();
    await mark();
    expect(await marks()).toBe(1);
  });

  test('requests counts each POST to /sql, faults included', async () => {
    const before = driver.endpoint.requests;
    driver.endpoint.faults.next({ kind: 'drop_before' });
    await expect(mark()).rejects.toThrow('Error connecting');
    await mark();
    await fetch(driver.endpoint.url);
    expect(driver.endpoint.requests - before).toBe(2);
  });
});
