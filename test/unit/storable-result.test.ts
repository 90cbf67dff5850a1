import { describe, expect, test } from 'vitest';

import { MAX_RESULT_BYTES } from '../../shared/limits.ts';
import { toStorableResult } from '../../shared/storable-result.ts';

const circular: { self?: unknown } = {};
circular.self = circular;

describe('case B5 a result that cannot be kept is a stated problem, not an error', () => {
  test.each([
    ['a NUL', { text: 'a\u0000b' }],
    ['a NUL in a key', { 'a\u0000': 1 }],
    ['half a surrogate pair', '\ud800'],
    ['a circle', circular],
    ['a BigInt', { n: 10n }],
    ['a function', () => undefined],
    ['a symbol', Symbol('x')],
    [
      'toJSON that throws',
      {
        toJSON: () => {
          throw new Error('no');
        },
      },
    ],
    ['too many bytes', 'é'.repeat(MAX_RESULT_BYTES / 2)],
    ['too many levels', JSON.parse('['.repeat(1000) + ']'.repeat(1000)) as unknown],
  ])('%s', (_name, returned) => {
    const { result, resultProblem } = toStorableResult(returned);
    expect(result).toBeUndefined();
    expect(resultProblem).toMatch(/^The result /);
    expect(resultProblem?.length).toBeLessThan(200);
    expect(resultProblem).not.toContain('\u0000');
  });
});

test.each([
  ['nothing', undefined, {}],
  ['null', null, { result: null }],
  ['an object', { total: 3, skipped: undefined }, { result: { total: 3 } }],
  ['a date', new Date(0), { result: '1970-01-01T00:00:00.000Z' }],
  [
    'a result at the limit',
    'x'.repeat(MAX_RESULT_BYTES - 2),
    { result: 'x'.repeat(MAX_RESULT_BYTES - 2) },
  ],
])('%s is kept', (_name, returned, kept) => {
  expect(toStorableResult(returned)).toEqual(kept);
});
