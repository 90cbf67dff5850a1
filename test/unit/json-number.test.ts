import fc from 'fast-check';
import { expect, test } from 'vitest';

import { isExactJsonNumber } from '../../shared/json-number.ts';

test('case A3 every double survives its own text, in any notation', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
      expect(isExactJsonNumber(JSON.stringify(number))).toBe(true);
      expect(isExactJsonNumber(number.toExponential())).toBe(true);
    }),
  );
});

test('case A3 an integer is taken just when its digits come back', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n }), (integer) => {
      const back = String(Number(integer)) === String(integer);
      expect(isExactJsonNumber(String(integer))).toBe(back);
    }),
  );
});

test.each(['0', '-0', '0.0', '0e999999999999', '100', '1.500', '15e-1', '0.00015e4'])(
  '%s',
  (text) => {
    expect(isExactJsonNumber(text)).toBe(true);
  },
);

test('a number of a million digits is judged in a moment', () => {
  expect(isExactJsonNumber('1'.repeat(1_000_000))).toBe(false);
  expect(isExactJsonNumber(`1.${'0'.repeat(1_000_000)}`)).toBe(true);
  expect(isExactJsonNumber(`0.${'0'.repeat(1_000_000)}1`)).toBe(false);
});
