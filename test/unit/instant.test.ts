import fc from 'fast-check';
import { expect, test } from 'vitest';

import { utcInstant } from '../../shared/instant.ts';

test.each([
  ['2030-01-31T12:00:00.123456+05:30', '2030-01-31T06:30:00.123Z'],
  ['2030-01-31T12:00:00-23:59', '2030-02-01T11:59:00.000Z'],
  [`2030-01-31T12:00:00.${'9'.repeat(5000)}Z`, '2030-01-31T12:00:00.999Z'],
  ['0000-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59-23:59', '9999-12-31T00:00:00.000Z'],
])('%s becomes %s', (text, instant) => {
  expect(utcInstant(text)).toBe(instant);
});

test('an instant in the form it gives stays as it is', () => {
  const instants = fc.date({
    min: new Date('1970-01-01T00:00:00Z'),
    max: new Date('9999-12-31T00:00:00Z'),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(instants, (at) => {
      expect(utcInstant(at.toISOString())).toBe(at.toISOString());
    }),
  );
});
