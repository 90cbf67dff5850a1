import { describe, expect, test } from 'vitest';

import { IDEMPOTENCY_KEY_RULE, parseIdempotencyKey } from '../../shared/idempotency-key.ts';

describe('an Idempotency-Key', () => {
  test.each([
    ['order-17', 'order-17'],
    ['"order-17"', 'order-17'],
    ['  order-17  ', 'order-17'],
    ['a b', 'a b'],
    [String.raw`"a\"b\\c"`, String.raw`a"b\c`],
    ['k'.repeat(255), 'k'.repeat(255)],
    [`"${'k'.repeat(255)}"`, 'k'.repeat(255)],
  ])('%j is read', (header, key) => {
    expect(parseIdempotencyKey(header)).toEqual({ ok: true, key });
  });

  test.each([
    '',
    '   ',
    '""',
    '"open',
    String.raw`"bad \escape"`,
    '"a";p=1',
    '"a", "b"',
    'schlüssel',
    'tab\tinside',
    'k'.repeat(256),
    `"${'k'.repeat(256)}"`,
  ])('%j is refused with the rule', (header) => {
    expect(parseIdempotencyKey(header)).toEqual({ ok: false, message: IDEMPOTENCY_KEY_RULE });
  });
});
