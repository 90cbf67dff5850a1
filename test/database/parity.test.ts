/**
 * The same over HTTP and over TCP, in a zone with daylight saving. The raw drivers differ: a `Date` is sent with the
 * process's own offset by one and may be by the other, an array bound to jsonb becomes an array literal, bytes come back
 * as two kinds of Buffer, and `date` becomes local midnight. The port binds text, numbers, booleans and null alone, and
 * its row types leave nothing to the process's zone.
 */
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { JsonValue } from '../../shared/json-value.ts';
import type { Sql, SqlValue } from '../../shared/ports.ts';
import { claim } from '../../shared/queue/claim.ts';
import { complete } from '../../shared/queue/complete.ts';
import { dueQueues } from '../../shared/queue/due-queues.ts';
import { enqueueBatch } from '../../shared/queue/enqueue-batch.ts';
import { enqueue } from '../../shared/queue/enqueue.ts';
import { fail } from '../../shared/queue/fail.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { heartbeat } from '../../shared/queue/heartbeat.ts';
import { listJobs } from '../../shared/queue/list-jobs.ts';
import { readSchemaVersion } from '../../shared/queue/schema-version.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createHttpSql, type HttpSql } from '../support/http-sql.ts';

let db: TestDatabase;
let http: HttpSql;
beforeAll(async () => {
  vi.stubEnv('TZ', 'America/New_York');
  db = await createTestDatabase();
  http = await createHttpSql(db);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await http.close();
  await db.drop();
});

/** Values down to their bytes, with what kind of thing they are. */
function bytes(value: unknown): unknown {
  if (value instanceof Date) return `Date ${value.toISOString()}`;
  if (value instanceof Uint8Array) {
    return `${value.constructor.name} ${Buffer.from(value).toString('hex')}`;
  }
  if (Array.isArray(value)) return value.map(bytes);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, bytes(inner)]));
}

async function both(text: string, values: readonly SqlValue[] = []): Promise<unknown> {
  const [overHttp, overTcp] = await Promise.all([
    http.sql.query(text, values),
    db.sql.query(text, values),
  ]);
  expect(bytes(overHttp)).toEqual(bytes(overTcp));
  return bytes(overHttp);
}

describe('case K5: values', () => {
  test('case K5 the zone of this process is not UTC', () => {
    expect(new Date('2026-07-01T00:00:00Z').getTimezoneOffset()).toBe(240);
  });

  test.each<[string, string, SqlValue, unknown]>([
    [
      'a time as its ISO text',
      'timestamptz',
      '2026-03-08T07:30:00.123Z',
      'Date 2026-03-08T07:30:00.123Z',
    ],
    [
      'a time in the hour that does not exist in New York',
      'timestamptz',
      '2026-03-08T02:30:00-05:00',
      'Date 2026-03-08T07:30:00.000Z',
    ],
    [
      'a time in the hour that comes twice',
      'timestamptz',
      '2026-11-01T06:30:00Z',
      'Date 2026-11-01T06:30:00.000Z',
    ],
    ['a date', 'date', '2026-03-08', '2026-03-08'],
    ['a time without a zone', 'timestamp', '2026-03-08 02:30:00', '2026-03-08 02:30:00'],
    ['bytes as hex', 'bytea', String.raw`\x00ff7f`, 'Uint8Array 00ff7f'],
    ['no bytes', 'bytea', String.raw`\x`, 'Uint8Array '],
    ['a 64-bit number', 'bigint', '9007199254740993', '9007199254740993'],
    ['a decimal', 'numeric', '1.50', '1.50'],
    ['a small number', 'int', -7, -7],
    ['a float', 'float8', 0.1, 0.1],
    ['a large float', 'float8', 1e21, 1e21],
    ['true', 'boolean', true, true],
    ['false as text', 'text', false, 'false'],
    ['null', 'text', null, null],
    ['null as jsonb', 'jsonb', null, null],
    ['the json null', 'jsonb', 'null', null],
    ['a list with NULL', 'int[]', '{1,NULL,3}', [1, null, 3]],
    [
      'a list of texts',
      'text[]',
      String.raw`{"a,b","NULL",NULL,"","\\\""}`,
      ['a,b', 'NULL', null, '', String.raw`\"`],
    ],
    ['an empty list', 'text[]', '{}', []],
    [
      'nested lists',
      'int[]',
      '{{1,2},{3,4}}',
      [
        [1, 2],
        [3, 4],
      ],
    ],
    [
      'nested json lists',
      'jsonb',
      '[[1,[]],[null,["{1,2}"]]]',
      [
        [1, []],
        [null, ['{1,2}']],
      ],
    ],
    ['an empty json list', 'jsonb', '[]', []],
    ['the json text "1"', 'jsonb', '"1"', '1'],
    ['a json number beyond 2^53', 'jsonb', '{"n":9007199254740993}', { n: 9_007_199_254_740_992 }],
    ['text that looks like json', 'text', '{"a":1}', '{"a":1}'],
    ['a backslash, quotes, a line break', 'text', 'a\\b"c\'d\n\te', 'a\\b"c\'d\n\te'],
    ['text beyond the basic plane', 'text', '𝄞 ☃ é é', '𝄞 ☃ é é'],
    ['half a surrogate pair', 'text', 'a\ud800b', 'a\ufffdb'],
    ['empty text', 'text', '', ''],
    [
      'a list of times',
      'timestamptz[]',
      '{"2026-03-08T07:30:00Z",NULL}',
      ['Date 2026-03-08T07:30:00.000Z', null],
    ],
    ['infinity', 'timestamptz', 'infinity', Number.POSITIVE_INFINITY],
  ])('case K5 %s (%s)', async (_name, type, value, expected) => {
    expect(await both(`select $1::${type} as v`, [value])).toEqual([{ v: expected }]);
  });

  test('case K5 rows stored through one are read alike through both', async () => {
    await db.pool.query(
      'create table public.kept (id text primary key, at timestamptz, day date, raw bytea, doc jsonb)',
    );
    const insert =
      'insert into public.kept values ($1, $2::timestamptz, $3::date, $4::bytea, $5::jsonb)';
    const values = ['2026-03-08T07:30:00Z', '2026-03-08', String.raw`\x00ff`, '[[1],[]]'];
    await http.sql.query(insert, ['http', ...values]);
    await db.sql.query(insert, ['tcp', ...values]);
    const stored = `select count(distinct (at, day, raw, doc::text)::text)::int as n from public.kept`;
    expect(await both(stored)).toEqual([{ n: 1 }]);
    await both('select * from public.kept order by id');
  });

  test('case K5 errors are alike too', async () => {
    const seen = await Promise.all(
      [http.sql, db.sql].map((sql) =>
        sql.query('select $1::uuid', ['no uuid']).catch((error: unknown) => error),
      ),
    );
    expect(seen[0]).toMatchObject({ code: 'database_error', sqlState: '22P02' });
    expect(JSON.stringify(seen[0])).toBe(JSON.stringify(seen[1]));
  });
});

const PAYLOADS: readonly JsonValue[] = [
  '1',
  1,
  null,
  [],
  {},
  [[1, [null]], [], ['{1,2}']],
  { at: '2026-03-08T07:30:00.123Z', raw: String.raw`\x00ff`, big: '9007199254740993' },
  { text: 'a\\b"c\'d\n 𝄞' },
];

describe('case K5: operations', () => {
  const order = (sql: Sql) =>
    (sql === http.sql ? [http.sql, db.sql] : [db.sql, http.sql]) as [Sql, Sql];

  test.each(PAYLOADS)(
    'case K5 a job with payload %j, its first half by one driver, its repeats by the other',
    async (payload) => {
      for (const [one, other] of [order(http.sql), order(db.sql)]) {
        const job = {
          id: uuidv7(),
          queue: 'k5',
          type: 'k5.check',
          payload,
          headers: { trace: 'é' },
        };
        const added = await enqueue(one, { job, actor: 'shop' });
        // The routine compares payloads: "exists" means that both drivers stored the same bytes.
        expect(await enqueue(other, { job, actor: 'shop' })).toEqual({
          ...added,
          outcome: 'exists',
        });

        const asked = { queue: 'k5', owner: 'worker-a', claimId: uuidv7() };
        const taken = await claim(one, asked);
        const again = await claim(other, asked);
        if (taken.outcome === 'empty' || again.outcome === 'empty')
          throw new Error('nothing was due');
        const { leaseRemainingMs: _one, runRemainingMs: _two, ...lease } = taken.job;
        expect(again.job).toMatchObject(lease);
        expect(taken.job).toMatchObject({ jobId: job.id, payload, headers: { trace: 'é' } });

        const { jobId, fencingToken } = taken.job;
        const held = { jobId, owner: 'worker-a', fencingToken };
        const beat = await heartbeat(one, { ...held, step: 1, progress: 'half' });
        const beatAgain = await heartbeat(other, { ...held, step: 1, progress: 'half' });
        if (beat.outcome !== 'held' || beatAgain.outcome !== 'held') throw new Error('lease lost');
        expect(beatAgain.leaseExpiresAt).toEqual(beat.leaseExpiresAt);

        const ended = await complete(one, { ...held, result: payload });
        expect(await complete(other, { ...held, result: payload })).toEqual(ended);
        const seen = await getJob(one, { jobId });
        expect(seen).toMatchObject({ state: 'succeeded', payload, result: payload });
        expect(JSON.stringify(await getJob(other, { jobId }))).toBe(JSON.stringify(seen));
      }
    },
  );

  test('case K5 fail, list, due queues, schema version', async () => {
    const jobs = PAYLOADS.map((payload) => ({
      id: uuidv7(),
      queue: 'k5 list',
      type: 't',
      payload,
    }));
    const created = await enqueueBatch(http.sql, { jobs, actor: 'shop' });
    const repeated = await enqueueBatch(db.sql, { jobs, actor: 'shop' });
    expect(repeated).toEqual(created.map((job) => ({ ...job, outcome: 'exists' })));

    const taken = await claim(db.sql, { queue: 'k5 list', owner: 'b', claimId: uuidv7() });
    if (taken.outcome === 'empty') throw new Error('nothing was due');
    const { jobId, fencingToken } = taken.job;
    const failure = {
      jobId,
      owner: 'b',
      fencingToken,
      error: { code: 'x', message: 'é "1"', at: [[], null] },
      failureClass: 'transient' as const,
    };
    expect(await fail(db.sql, failure)).toEqual(await fail(http.sql, failure));

    for (const read of [
      (sql: Sql) => listJobs(sql, { queue: 'k5 list', limit: 50 }),
      async (sql: Sql) => (await dueQueues(sql, { limit: 10, perQueue: 10 })).queues,
      (sql: Sql) => readSchemaVersion(sql),
      (sql: Sql) => getJob(sql, { jobId }),
    ]) {
      const [overHttp, overTcp] = await Promise.all([read(http.sql), read(db.sql)]);
      expect(bytes(overHttp)).toEqual(bytes(overTcp));
    }
  });
});
