import { expect, test } from 'vitest';

import { formatJsonPath } from '../../shared/json-path.ts';

test.each([
  [[], '$'],
  [['payload', 'items', 2, 'name'], 'payload.items[2].name'],
  [[0, 'a'], '$[0].a'],
  [['a b'], '$["a b"]'],
  [['a', ''], 'a[""]'],
  [['a', 'it"s'], String.raw`a["it\"s"]`],
])('%j reads %s', (path, text) => {
  expect(formatJsonPath(path)).toBe(text);
});

test('a key of a megabyte does not become a message of a megabyte', () => {
  expect(formatJsonPath(['a'.repeat(1_000_000)]).length).toBeLessThan(200);
});
