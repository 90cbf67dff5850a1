import { expect, test } from 'vitest';

import { csvHeader, csvLine, flattenRow } from '../../functions/handlers/csv-table.ts';
import type { JsonObject } from '../../shared/json-value.ts';

test('quotes per RFC 4180', () => {
  expect(csvLine(['plain', 'a,b', 'say "hi"', 'two\r\nlines', ''])).toBe(
    'plain,"a,b","say ""hi""","two\r\nlines",\r\n',
  );
});

test('nested objects become dotted columns, arrays stay JSON', () => {
  expect([
    ...flattenRow({ id: 1, user: { login: 'ada', plan: { name: null } }, tags: ['a', 1] }),
  ]).toEqual([
    ['id', '1'],
    ['user.login', 'ada'],
    ['user.plan.name', ''],
    ['tags', '["a",1]'],
  ]);
});

test.each(['=1+1', '+1', '-1', '@cmd', '\tx', '\rx'])(
  'text %j does not become a formula',
  (text) => {
    expect(flattenRow({ text }).get('text')).toBe(`'${text}`);
    expect(csvHeader([text])).toContain(`'${text}`);
  },
);

test('a negative number stays a number', () => {
  expect(flattenRow({ n: -5 }).get('n')).toBe('-5');
});

test('a key named __proto__ is a column like any other', () => {
  const row = JSON.parse('{"__proto__":{"x":1}}') as JsonObject;
  expect([...flattenRow(row)]).toEqual([['__proto__.x', '1']]);
});
