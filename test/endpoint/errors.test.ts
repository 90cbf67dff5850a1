import { neon } from '@neondatabase/serverless';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSqlEndpoint } from '../../infra/local/sql-endpoint/endpoint.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { officialDriver, type OfficialDriver } from './support/official-driver.ts';

let db: TestDatabase;
let driver: OfficialDriver;
beforeAll(async () => {
  db = await createTestDatabase();
  driver = await officialDriver(db);
  await db.pool.query('create table public.parents (id int primary key)');
  await db.pool.query(
    'create table public.children (parent int not null constraint has_parent references public.parents)',
  );
});
afterAll(async () => {
  await driver.close();
  await db.drop();
});

const TEN_MIB = 10 * 1024 * 1024;

function withUrl(change: (url: URL) => void): string {
  const url = new URL(driver.connectionString);
  change(url);
  return url.href;
}

describe('errors of a statement', () => {
  test('all fields of a Postgres error arrive', async () => {
    await expect(driver.sql`insert into public.children values (7)`).rejects.toMatchObject({
      name: 'NeonDbError',
      message: expect.stringContaining('violates foreign key constraint') as string,
      severity: 'ERROR',
      code: '23503',
      detail: 'Key (parent)=(7) is not present in table "parents".',
      schema: 'public',
      table: 'children',
      constraint: 'has_parent',
      file: 'ri_triggers.c',
      line: expect.stringMatching(/^\d+$/) as string,
      routine: 'ri_ReportViolation',
    });
    await expect(driver.sql`insert into public.children values (null)`).rejects.toMatchObject({
      code: '23502',
      column: 'parent',
    });
    await expect(driver.sql`select 1 as n, nope`).rejects.toMatchObject({
      code: '42703',
      position: '16',
    });
    await expect(driver.sql`do $$ begin execute 'selec 1'; end $$`).rejects.toMatchObject({
      code: '42601',
      internalQuery: 'selec 1',
      internalPosition: '1',
      where: expect.stringContaining('PL/pgSQL function') as string,
    });
    await expect(
      driver.sql`do $$ begin raise exception using errcode = 'LH001', message = 'm', hint = 'h', datatype = 'd'; end $$`,
    ).rejects.toMatchObject({ code: 'LH001', message: 'm', hint: 'h', dataType: 'd' });
  });

  test('the body has the seventeen keys, null where there is nothing', async () => {
    const response = await driver.post({ query: 'select 1/0' });
    expect(response.status).toBe(400);
    const body = (await response.json()) as object;
    expect(Object.keys(body)).toHaveLength(17);
    expect(body).toMatchObject({ code: '22012', detail: null, position: null, constraint: null });
  });

  test('two statements in one query are refused', async () => {
    await expect(driver.sql.query('select 1; select 2')).rejects.toMatchObject({ code: '42601' });
  });

  test('a connection that breaks in mid-query is a 400 whose code tells no more than Postgres did', async () => {
    const killed = driver.sql`select pg_terminate_backend(pg_backend_pid())`;
    await expect(killed).rejects.toMatchObject({ name: 'NeonDbError', code: '57P01' });
    expect(await driver.sql`select 1 as n`).toEqual([{ n: 1 }]);
  });
});

describe('errors before a statement', () => {
  test('a wrong password is a 400 without a code, and opens no door later', async () => {
    expect(await driver.sql`select 1 as n`).toEqual([{ n: 1 }]);
    const wrong = neon(withUrl((url) => void (url.password = 'wrong')));
    await expect(wrong`select 1`).rejects.toMatchObject({
      message: expect.stringContaining('password authentication failed') as string,
      code: '',
      severity: '',
    });
  });

  test('an unknown database is a 400 with its code', async () => {
    const lost = neon(withUrl((url) => void (url.pathname = '/nowhere')));
    await expect(lost`select 1`).rejects.toMatchObject({ code: '3D000' });
  });

  test('a server that cannot be reached is a 500', async () => {
    const endpoint = await startSqlEndpoint({ upstream: { host: '127.0.0.1', port: 1 } });
    const sql = neon(withUrl((url) => void (url.port = String(endpoint.port))));
    await expect(sql`select 1`).rejects.toThrow(/HTTP status 500.*"code":""/);
    await endpoint.close();
  });

  test('no connection in time is a 500', async () => {
    const narrow = await officialDriver(db, { poolSize: 1, connectionWaitMs: 50 });
    const holder = narrow.sql`select pg_sleep(60)`.catch(() => undefined);
    await expect(narrow.sql`select 1`).rejects.toThrow(/HTTP status 500.*Failed to acquire permit/);
    await narrow.close();
    await holder;
  });

  test.each([
    ['not a url', 'invalid connection string'],
    ['http://u:p@127.0.0.1/db', 'incorrect scheme'],
    ['postgres://u:p@127.0.0.1/', 'missing database name'],
    ['postgres://127.0.0.1/db', 'missing username'],
    ['postgres://u@127.0.0.1/db', 'required password'],
    ['postgres://u:%ff@127.0.0.1/db', 'invalid password'],
  ])('connection string %s: %s', async (header, message) => {
    const response = await driver.post({ query: 'select 1' }, { 'neon-connection-string': header });
    expect(response.status).toBe(400);
    const text = await response.text();
    expect(text).toContain(message);
    expect(text).toContain('"code":""');
    expect(text).not.toContain('u:p');
  });

  test('no connection string', async () => {
    const response = await fetch(driver.endpoint.url, {
      method: 'POST',
      body: '{"query":"select 1"}',
    });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('invalid header: neon-connection-string');
  });

  test('a bearer token is refused', async () => {
    const response = await driver.post({ query: 'select 1' }, { authorization: 'Bearer x' });
    expect(response.status).toBe(400);
  });

  test.each(['Snapshot', 'serializable', '', 'Serializable '.trim() + 'x', 'toString'])(
    'isolation level "%s" is a 400, even on a single query',
    async (level) => {
      const response = await driver.post(
        { query: 'select 1' },
        { 'neon-batch-isolation-level': level },
      );
      expect(response.status).toBe(400);
      expect(await response.text()).toContain('invalid isolation level');
    },
  );

  test.each([
    '',
    '{',
    'null',
    '[]',
    '{"query":1}',
    '{"queries":{}}',
    '{"queries":[{}]}',
    '{"query":"q","params":1}',
  ])('body %s is a 400', async (body) => {
    const response = await driver.post(body);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('could not parse the HTTP request body');
  });

  test('only POST and OPTIONS on /sql', async () => {
    const { url } = driver.endpoint;
    const options = await fetch(url, { method: 'OPTIONS' });
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'POST, OPTIONS']);
    expect(options.headers.get('access-control-allow-origin')).toBeNull();
    expect((await fetch(url)).status).toBe(405);
    expect((await fetch(url, { method: 'PUT', body: '{}' })).status).toBe(405);
    expect((await fetch(`${url}/x`, { method: 'POST', body: '{}' })).status).toBe(404);
  });

  test('every answer has a neon-request-id of its own', async () => {
    const { url } = driver.endpoint;
    const answers = await Promise.all([
      driver.post({ query: 'select 1' }),
      driver.post({ query: 'selec' }),
      driver.post('{'),
      fetch(url),
      fetch(url, { method: 'OPTIONS' }),
    ]);
    const ids = answers.map((answer) => answer.headers.get('neon-request-id'));
    expect(ids.every((id) => /^[0-9a-f-]{36}$/.test(id ?? ''))).toBe(true);
    expect(new Set(ids).size).toBe(answers.length);
  });

  test('it listens on loopback only', async () => {
    const host = '0.0.0.0' as '127.0.0.1';
    const upstream = { host: '127.0.0.1', port: 1 };
    await expect(startSqlEndpoint({ host, upstream })).rejects.toThrow('loopback only');
  });
});

describe('limits', () => {
  test('a request of 10 MiB passes, one byte more is a 413', async () => {
    const frame = JSON.stringify({ query: 'select length($1) as n', params: [''] });
    const body = frame.replace('""', `"${'x'.repeat(TEN_MIB - frame.length)}"`);
    const fits = await driver.post(body);
    expect(fits.status).toBe(200);
    const over = await driver.post(`${body} `);
    expect(over.status).toBe(413);
    expect(await over.text()).toContain(`request is too large (max is ${TEN_MIB} bytes)`);
  });

  test('a single statement whose answer is too large is a 507, and done', async () => {
    await db.pool.query('create table large (t text)');
    const write = driver.sql`insert into large select repeat('x', 1024 * 1024) from generate_series(1, 11) returning t`;
    await expect(write).rejects.toThrow(/HTTP status 507.*response is too large/);
    expect(await driver.sql`select count(*)::int as n from large`).toEqual([{ n: 11 }]);
  });

  test('a batch whose answers together are too large is a 507, and rolled back', async () => {
    await db.pool.query('create table large_batch (t text)');
    const { sql } = driver;
    const half = sql`insert into large_batch select repeat('x', 1024 * 1024) from generate_series(1, 6) returning t`;
    await expect(sql.transaction([half, half])).rejects.toThrow(/HTTP status 507/);
    expect(await sql`select count(*)::int as n from large_batch`).toEqual([{ n: 0 }]);
    await expect(sql.transaction([half])).resolves.toHaveLength(1);
  });

  test('a request that breaks off halfway executes nothing and harms nobody', async () => {
    const { port } = driver.endpoint;
    const broken = request({
      port,
      path: '/sql',
      method: 'POST',
      headers: { 'content-length': 100 },
    });
    broken.on('error', () => undefined);
    broken.setHeader('neon-connection-string', driver.connectionString);
    await new Promise((resolve) => void broken.write('{"query":', resolve));
    broken.destroy();
    expect(await driver.sql`select 1 as n`).toEqual([{ n: 1 }]);
  });
});
