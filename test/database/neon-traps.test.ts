/** One test for each trap of the driver and of the proxy behind it. */
import { neon, NeonDbError } from '@neondatabase/serverless';
import { describe, expect, test, vi } from 'vitest';
import { LeaseholdError } from '../../shared/errors.ts';
import {
  codelessAnswer,
  CONNECTION_STRING,
  fakeDriver,
  rowsAnswer,
  sqlErrorAnswer,
} from './support/fake-answers.ts';

/** A body that begins and then breaks off with this error. */
function brokenBody(error: Error): Response {
  const body = new ReadableStream({
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode('{"fields":['));
      controller.error(error);
    },
  });
  return new Response(body, { status: 200 });
}

describe('the promise', () => {
  test('runs the query once, however often it is awaited', async () => {
    const { sql, requests } = fakeDriver(async () => rowsAnswer([['1']]));
    const query = sql.query('select 1', []);
    expect(await Promise.all([query, query, query.then((rows) => rows)])).toHaveLength(3);
    await query;
    expect(requests).toHaveLength(1);
  });

  test('runs the query even if nobody awaits it', async () => {
    const { sql, requests } = fakeDriver(async () => rowsAnswer());
    const ignored = sql.query('select 1', []);
    await expect.poll(() => requests.length).toBe(1);
    await ignored;
  });
});

describe('the request', () => {
  test('keeps the driver’s headers: no fetch option replaces them', async () => {
    const { sql, requests } = fakeDriver(async () => rowsAnswer());
    await sql.query('select $1::int', [1], { signal: new AbortController().signal });
    const headers = new Headers(requests[0]?.init.headers);
    expect(headers.get('neon-connection-string')).toContain('ep-x.eu-central-1.aws.neon.tech/jobs');
    expect(headers.get('neon-raw-text-output')).toBe('true');
    expect(headers.get('neon-array-mode')).toBe('true');
    expect(requests[0]?.init.body).toBe('{"query":"select $1::int","params":["1"]}');
  });

  test('follows no redirect: it would carry the password along', async () => {
    const { sql, requests } = fakeDriver(async () => new Response(null, { status: 302 }));
    await expect(sql.query('select 1', [])).rejects.toMatchObject({ code: 'database_error' });
    expect(requests[0]?.init.redirect).toBe('manual');
    expect(requests).toHaveLength(1);
  });

  test.each([
    ['an array', [[1]]],
    ['an object', [{}]],
    ['a date', [new Date(0)]],
    ['bytes', [new Uint8Array(1)]],
    ['undefined', [undefined]],
    ['a bigint', [1n]],
  ])('binds no %s, whose text differs from driver to driver', async (_name, values) => {
    const { sql, requests } = fakeDriver(async () => rowsAnswer());
    await expect(sql.query('select $1', values as never[])).rejects.toThrow(/^Parameter \$1 is /);
    expect(requests).toHaveLength(0);
  });
});

describe('row types', () => {
  test('types given to neon() are ignored, so they go with each query', async () => {
    const field = { name: 'd', dataTypeID: 1082 };
    const answer = async () => Response.json({ fields: [field], rows: [['2026-03-08']] });
    const { sql } = fakeDriver(answer);
    expect(await sql.query('select d', [])).toEqual([{ d: '2026-03-08' }]);
    // The trap itself, so that a driver that changes its mind is noticed. Not our call: it gets the platform's fetch.
    vi.stubGlobal('fetch', answer);
    const types = { getTypeParser: () => (text: string) => text };
    const ignoring = neon(CONNECTION_STRING, { types } as object);
    expect(await ignoring.query('select d')).toEqual([{ d: expect.any(Date) as Date }]);
    vi.unstubAllGlobals();
  });
});

const UNKNOWN = [
  ['fetch rejects', () => Promise.reject(new TypeError('fetch failed'))],
  ['the answer breaks off', async () => brokenBody(new TypeError('terminated'))],
  [
    'a timeout hits while the body is read',
    async () => brokenBody(new DOMException('x', 'TimeoutError')),
  ],
  ['400 without a code', async () => codelessAnswer('connection closed')],
  ['400 that is not JSON', async () => new Response('<html>', { status: 400 })],
  ['400 with a code that is no proof', async () => sqlErrorAnswer('57P01')],
  [
    '400 made up by the proxy for a cancelled query',
    async () => Response.json({ message: 'm', code: '08P01' }, { status: 400 }),
  ],
  ['500', async () => Response.json({ message: 'm' }, { status: 500 })],
  ['503', async () => new Response('Shutting down', { status: 503 })],
  ['507 after a single statement', async () => new Response('{}', { status: 507 })],
  ['200 that is not JSON', async () => new Response('{"fields":')],
  ['200 that is not a result', async () => Response.json({})],
] as const satisfies readonly (readonly [string, () => Promise<Response>])[];

describe('an unknown outcome is tried again', () => {
  test.each(UNKNOWN)('%s, once: the caller sees the rows', async (_name, fault) => {
    const { sql, time, requests, logged } = fakeDriver(({ number }) =>
      number === 1 ? fault() : Promise.resolve(rowsAnswer([['ok']])),
    );
    expect(await time.runUntil(sql.query('select 1', []))).toEqual([{ c1: 'ok' }]);
    expect(requests).toHaveLength(2);
    expect(logged).toEqual([]);
  });

  test.each(UNKNOWN)('%s, always: database_unavailable', async (_name, fault) => {
    const { sql, time, requests } = fakeDriver(fault);
    const error = await time.runUntil(sql.query('select 1', []).catch((thrown: unknown) => thrown));
    expect(error).toBeInstanceOf(LeaseholdError);
    expect(error).toMatchObject({ code: 'database_unavailable', retryAfterSeconds: 5 });
    expect(requests).toHaveLength(5);
  });
});

describe('a definite failure is told at once', () => {
  test.each([
    [
      'LH001',
      'queue: must not be empty',
      {
        code: 'invalid_request',
        message: 'queue: must not be empty',
        problems: [{ path: 'queue', message: 'must not be empty' }],
      },
    ],
    [
      'LH001',
      'no field named',
      { code: 'invalid_request', problems: [{ path: '$', message: 'no field named' }] },
    ],
    [
      'LH002',
      'id: belongs to another job',
      { code: 'job_id_conflict', problems: [{ path: 'id', message: 'belongs to another job' }] },
    ],
    [
      '3F000',
      'any',
      { code: 'schema_mismatch', message: expect.stringContaining('npm run migrate') as string },
    ],
    ['42883', 'any', { code: 'schema_mismatch' }],
    ['42P01', 'any', { code: 'schema_mismatch' }],
    [
      '23505',
      'duplicate key (private@example.com)',
      { code: 'database_error', message: 'The database refused the statement (SQLSTATE 23505).' },
    ],
    [
      '42501',
      'any',
      { code: 'database_error', message: 'The database user lacks a privilege (SQLSTATE 42501).' },
    ],
    ['57014', 'statement timeout', { code: 'database_error' }],
  ])('%s "%s"', async (sqlState, message, expected) => {
    const { sql, requests } = fakeDriver(async () => sqlErrorAnswer(sqlState, message));
    await expect(sql.query('select 1', [])).rejects.toMatchObject({ ...expected, sqlState });
    expect(requests).toHaveLength(1);
  });

  test('413: too large for the endpoint', async () => {
    const { sql, requests } = fakeDriver(async () => new Response('{}', { status: 413 }));
    await expect(sql.query('select 1', [])).rejects.toMatchObject({
      code: 'database_error',
      message: expect.stringContaining('too large') as string,
      sqlState: undefined,
    });
    expect(requests).toHaveLength(1);
  });

  test('404: not an endpoint', async () => {
    const { sql } = fakeDriver(async () => new Response('', { status: 404 }));
    await expect(sql.query('select 1', [])).rejects.toMatchObject({
      code: 'database_error',
      message: 'The database endpoint refused the request (HTTP status 404).',
    });
  });

  test('the cause says what Postgres said, without the values of a row', async () => {
    const { sql } = fakeDriver(async () =>
      sqlErrorAnswer('23505', 'duplicate key value', {
        constraint: 'one_each',
        detail: 'Key (a)=(private)',
      }),
    );
    const error = await sql.query('select 1', []).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      cause: { message: 'duplicate key value', constraint: 'one_each' },
    });
    expect(JSON.stringify((error as LeaseholdError).cause)).not.toContain('private');
  });
});

describe('the driver’s habits that this port hides, so that a change in them is noticed', () => {
  async function bare(answer: typeof fetch, options: object = {}): Promise<unknown> {
    vi.stubGlobal('fetch', answer);
    try {
      return await neon(CONNECTION_STRING).query('select 1', [], options);
    } catch (error) {
      return error;
    } finally {
      vi.unstubAllGlobals();
    }
  }

  test('a promise that runs again on each await', async () => {
    const answer = vi.fn<typeof fetch>(async () => rowsAnswer());
    vi.stubGlobal('fetch', answer);
    const query = neon(CONNECTION_STRING).query('select 1');
    expect(answer).not.toHaveBeenCalled();
    await query;
    await query;
    expect(answer).toHaveBeenCalledTimes(2);
    vi.unstubAllGlobals();
  });

  test('headers in fetchOptions replace its own', async () => {
    const answer = vi.fn<typeof fetch>(async () => rowsAnswer());
    await bare(answer, { fetchOptions: { headers: { 'x-mine': '1' } } });
    expect(answer.mock.calls[0]?.[1]?.headers).toEqual({ 'x-mine': '1' });
  });

  test('an empty connection string that fails only at the first query', async () => {
    const sql = neon('');
    await expect(sql`select 1`).rejects.toThrow('Database connection string');
  });

  test('a bad connection string that is repeated whole', async () => {
    const sql = neon('postgres://app:hunter2@h:port/db');
    await expect(sql`select 1`).rejects.toThrow('hunter2');
  });

  test('errors of three shapes', async () => {
    expect(await bare(() => Promise.reject(new TypeError('x')))).toBeInstanceOf(NeonDbError);
    expect(await bare(async () => brokenBody(new TypeError('terminated')))).not.toBeInstanceOf(
      NeonDbError,
    );
    expect(await bare(async () => new Response('<html>', { status: 400 }))).toBeInstanceOf(
      SyntaxError,
    );
  });
});
