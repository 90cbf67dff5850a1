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

describe('the official driver, single queries', () => {
  test('a template sends its values as parameters and composes', async () => {
    const { sql } = driver;
    const where = sql`n between ${2} and ${3}`;
    const table = sql.unsafe('generate_series(1, 5)');
    const rows = await sql`select n, ${"it's"}::text as t from ${table} as n where ${where}`;
    expect(rows).toEqual([
      { n: 2, t: "it's" },
      { n: 3, t: "it's" },
    ]);
  });

  test('sql.query takes numbered placeholders', async () => {
    const rows = await driver.sql.query('select $1::int + $2::int as sum', [40, 2]);
    expect(rows).toEqual([{ sum: 42 }]);
  });

  test('a parameter without a cast is inferred as text', async () => {
    expect(await driver.sql.query('select $1 as v', [1])).toEqual([{ v: '1' }]);
  });

  test('arrayMode gives rows as arrays', async () => {
    const rows = await driver.sql.query('select 1 as a, 2 as a', [], { arrayMode: true });
    expect(rows).toEqual([[1, 2]]);
  });

  test('fullResults gives fields, command and row count', async () => {
    const { sql } = driver;
    const result = await sql.query('select 1::int as one, null::text as none', [], {
      fullResults: true,
    });
    expect(result).toMatchObject({
      command: 'SELECT',
      rowCount: 1,
      rowAsArray: false,
      rows: [{ one: 1, none: null }],
      fields: [
        {
          name: 'one',
          dataTypeID: 23,
          tableID: 0,
          columnID: 0,
          dataTypeSize: 4,
          dataTypeModifier: -1,
          format: 'text',
        },
        { name: 'none', dataTypeID: 25, dataTypeSize: -1 },
      ],
    });
  });

  test.each([
    ['create table counted (n int)', 'CREATE', null],
    ['insert into counted select generate_series(1, 3)', 'INSERT', 3],
    ['update counted set n = n where n > 1', 'UPDATE', 2],
    ['delete from counted', 'DELETE', 3],
    ['select 1 where false', 'SELECT', 0],
    ['set work_mem = 65536', 'SET', null],
  ])('%s counts as the server counts', async (text, command, rowCount) => {
    const result = await driver.sql.query(text, [], { fullResults: true });
    expect(result).toMatchObject({ command, rowCount });
  });

  test('an empty query is an empty result', async () => {
    expect(await driver.sql.query('')).toEqual([]);
  });

  test('types come back as the driver documents them', async () => {
    const [row] = await driver.sql`select
      9007199254740993::int8 as int8, 1.50::numeric as numeric, true as bool, 1.5::float8 as float8,
      '2026-03-08T07:30:00.123Z'::timestamptz as timestamptz, '{"a":[1,null]}'::jsonb as jsonb,
      array[1, null, 3] as ints, array['a,b', null, '"'] as texts, '\\x00ff'::bytea as bytea,
      'NaN'::float8 as nan, 'snow ☃ 𝄞' as text`;
    expect(row).toMatchObject({
      int8: '9007199254740993',
      numeric: '1.50',
      bool: true,
      float8: 1.5,
      timestamptz: new Date('2026-03-08T07:30:00.123Z'),
      jsonb: { a: [1, null] },
      ints: [1, null, 3],
      texts: ['a,b', null, '"'],
      nan: Number.NaN,
      text: 'snow ☃ 𝄞',
    });
    expect(Buffer.from(row?.['bytea'] as Uint8Array).toString('hex')).toBe('00ff');
  });

  test('every kind of parameter arrives as the driver encodes it', async () => {
    const at = new Date('2026-11-01T05:30:00.001Z');
    const [row] = await driver.sql.query(
      `select $1::text is null as null, $2::text is null as undefined, $3::timestamptz as at, $4::int8 as big,
              $5::bytea as bytes, $6::int[] as ints, $7::text[] as texts, $8::jsonb as object, $9::jsonb as json_list,
              $10::bool as yes, $11::jsonb as json_text, $12::int[] as empty`,
      [
        null,
        undefined,
        at,
        9_007_199_254_740_993n,
        Buffer.from([0, 255]),
        [1, null, 3],
        ['a"b', String.raw`c\d`, '', 'NULL', null],
        { a: [1, { b: null }] },
        JSON.stringify([[1, 2], []]),
        true,
        '"1"',
        [],
      ],
    );
    expect(row).toMatchObject({
      null: true,
      undefined: true,
      at,
      big: '9007199254740993',
      ints: [1, null, 3],
      texts: ['a"b', String.raw`c\d`, '', 'NULL', null],
      object: { a: [1, { b: null }] },
      json_list: [[1, 2], []],
      yes: true,
      json_text: '1',
      empty: [],
    });
    expect(Buffer.from(row?.['bytes'] as Uint8Array).toString('hex')).toBe('00ff');
  });

  test('custom types are honoured with the query', async () => {
    const types = { getTypeParser: () => (text: string) => `<${text}>` };
    const rows = await driver.sql.query('select 1 as n', [], { types });
    expect(rows).toEqual([{ n: '<1>' }]);
  });

  test('each await of the driver’s own promise runs the query again', async () => {
    await driver.sql`create table twice (n int)`;
    const insert = driver.sql`insert into twice values (1)`;
    await insert;
    await insert;
    expect(await driver.sql`select count(*)::int as n from twice`).toEqual([{ n: 2 }]);
  });

  test('many queries at once share the pool and all answer', async () => {
    const { sql } = driver;
    const all = await Promise.all(
      Array.from({ length: 60 }, (_, n) => sql.query('select $1::int as n', [n])),
    );
    expect(all.map((rows) => rows[0])).toEqual(Array.from({ length: 60 }, (_, n) => ({ n })));
  });
});
