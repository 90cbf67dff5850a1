import { describe, expect, test } from 'vitest';

import { isValidName } from '../../shared/names.ts';

describe('case L3 names are data: taken as they are, or refused by a stated rule', () => {
  test.each([
    'image-worker',
    'a'.repeat(47),
    'a'.repeat(48),
    'a'.repeat(63),
    'a'.repeat(64),
    'a'.repeat(128),
    '🐘'.repeat(128),
    `quotes ' " and ; drop table jobs; --`,
    '🐘 emails',
    '../x',
    '%00',
    'a/b',
    '...',
  ])('%s is a name', (name) => {
    expect(isValidName(name, 128)).toBe(true);
  });

  test.each([
    '',
    ' ',
    '.',
    '..',
    ' a',
    'a ',
    'a\n',
    '\u00a0a',
    'a\u0000b',
    'a\u0085b',
    'a\tb',
    '\ud800',
    'a'.repeat(129),
    'a'.repeat(300),
    '🐘'.repeat(129),
  ])('%j is none', (name) => {
    expect(isValidName(name, 128)).toBe(false);
  });

  test('two long names that differ at the end are two names', () => {
    const [one, two] = ['1', '2'].map((end) => 'q'.repeat(127) + end);
    expect(one).not.toBe(two);
    expect(isValidName(one ?? '', 128) && isValidName(two ?? '', 128)).toBe(true);
  });
});
