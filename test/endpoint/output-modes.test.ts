import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { officialDriver, type OfficialDriver } from './support/official-driver.ts';

let db: TestDatabase;
let driver: OfficialDriver;
beforeAll(async () => {
  db = await createTestDatabase();
  driver = await officialDriver(db);
});
afterAll(async () => {
  await driver.close();
  await db.drop();
});

interface Answer {
  readonly rowAsArray: boolean;
  readonly rows: unknown[];
}

async function rowsOf(body: object, headers: Record<string, string>): Promise<Answer> {
  const response = await driver.post(body, headers);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/json');
  return (await response.json()) as Answer;
}

const QUERY = { query: 'select 7::int as a, true as b, null::text as c' };

describe('output modes', () => {
  test('without headers rows are objects of JSON values', async () => {
    expect(await rowsOf(QUERY, {})).toMatchObject({
      rowAsArray: false,
      rows: [{ a: 7, b: true, c: null }],
    });
  });

  test('a header counts only when it is exactly true', async () => {
    for (const value of ['TRUE', '1', 'yes', 'true, true', 'false']) {
      const headers = { 'neon-raw-text-output': value, 'neon-array-mode': value };
      expect(await rowsOf(QUERY, headers)).toMatchObject({ rows: [{ a: 7, b: true, c: null }] });
    }
    const headers = { 'neon-raw-text-output': 'true', 'neon-array-mode': 'true' };
    expect(await rowsOf(QUERY, headers)).toMatchObject({
      rowAsArray: true,
      rows: [['7', 't', null]],
    });
  });

  test('a query may choose its own array mode', async () => {
    const list = await rowsOf({ ...QUERY, arrayMode: true }, {});
    expect(list.rows).toEqual([[7, true, null]]);
    const objects = await rowsOf({ ...QUERY, arrayMode: false }, { 'neon-array-mode': 'true' });
    expect(objects.rows).toEqual([{ a: 7, b: true, c: null }]);
  });

  test('JSON values keep what a JSON number cannot hold as text', async () => {
    const query = `select 9007199254740993::int8 as int8, 1.50::numeric as numeric, 1.5::float4 as float,
      'NaN'::float8 as nan, '-Infinity'::float8 as low, '{"a": [null]}'::jsonb as jsonb, 'f'::bool as no,
      array[1, null]::int[] as ints, '[0:1]={a,b}'::text[] as bounded, '{}'::int[] as none,
      array[['a,b', 'c"d'], ['e\\f', null]] as nested, array['NULL', '', '{}'] as words,
      array[true, null] as bools, array['{"k": "v"}'::jsonb] as docs, array[1.5, 'NaN']::float8[] as floats,
      '2026-01-01'::date as date`;
    const { rows } = await rowsOf({ query }, {});
    expect(rows).toEqual([
      {
        int8: '9007199254740993',
        numeric: '1.50',
        float: 1.5,
        nan: 'NaN',
        low: '-Infinity',
        jsonb: { a: [null] },
        no: false,
        ints: [1, null],
        bounded: ['a', 'b'],
        none: [],
        nested: [
          ['a,b', 'c"d'],
          [String.raw`e\f`, null],
        ],
        words: ['NULL', '', '{}'],
        bools: [true, null],
        docs: [{ k: 'v' }],
        floats: [1.5, 'NaN'],
        date: '2026-01-01',
      },
    ]);
  });

  test('raw JSON parameters become text by the proxy’s rule', async () => {
    const { rows } = await rowsOf(
      {
        query:
          'select $1::text, $2::text, $3::jsonb, $4::text[], $5::int[][], $6::text, $7::jsonb[]',
        params: [
          12.5,
          true,
          { a: [1] },
          ['a"b', String.raw`c\d`, null, 'NULL', 'line\nbreak'],
          [
            [1, 2],
            [3, null],
          ],
          null,
          [{ k: 'v"' }],
        ],
      },
      { 'neon-array-mode': 'true' },
    );
    expect(rows).toEqual([
      [
        '12.5',
        'true',
        { a: [1] },
        ['a"b', String.raw`c\d`, null, 'NULL', 'line\nbreak'],
        [
          [1, 2],
          [3, null],
        ],
        null,
        [{ k: 'v"' }],
      ],
    ]);
  });
});
