import { describe, expect, test } from 'vitest';

import { parseJsonBytes } from '../../shared/json-text.ts';
import type { JsonTextOutcome } from '../../shared/json-text.ts';
import { MAX_FIELD_PROBLEMS, MAX_JSON_DEPTH } from '../../shared/limits.ts';

function parse(text: string): JsonTextOutcome {
  return parseJsonBytes(new TextEncoder().encode(text));
}

function pathsOf(outcome: JsonTextOutcome): string[] {
  return outcome.ok ? [] : outcome.problems.map(({ path }) => path);
}

describe('case A1 U+0000 is refused with its JSON path', () => {
  test.each([
    ['a nested string', String.raw`{"a":{"b":"x\u0000y"}}`, 'a.b'],
    ['an array item', String.raw`{"a":[1,"\u0000"]}`, 'a[1]'],
    ['a key', String.raw`{"a":{"k\u0000":1}}`, String.raw`a["k\u0000"]`],
    ['the document itself', String.raw`"\u0000"`, '$'],
  ])('in %s', (_where, text, path) => {
    expect(pathsOf(parse(text))).toEqual([path]);
  });

  test('the six characters of an escaped backslash are not a NUL', () => {
    expect(parse(String.raw`{"a":"\\u0000"}`)).toEqual({ ok: true, value: { a: '\\u0000' } });
  });

  test.each([String.raw`{"a":"\ud800"}`, String.raw`{"a":"\udc00\ud800"}`])(
    'half a surrogate pair is refused too: %s',
    (text) => {
      expect(pathsOf(parse(text))).toEqual(['a']);
    },
  );
});

describe('case A3 numbers are never changed in silence', () => {
  test.each(['9007199254740993', '-9007199254740993', '1e400', '1e-400', '0.1234567890123456789'])(
    '%s is refused with its path',
    (number) => {
      expect(pathsOf(parse(`{"a":[{"n":${number}}]}`))).toEqual(['a[0].n']);
    },
  );

  test.each([
    ['9007199254740991', 9007199254740991],
    ['1.0', 1],
    ['1e2', 100],
    ['0.1', 0.1],
    ['-0', -0],
    ['5e-324', 5e-324],
    ['1.7976931348623157e308', Number.MAX_VALUE],
    ['100000000000000000000', 1e20],
  ])('%s is taken as it is', (text, value) => {
    expect(parse(`{"n":${text}}`)).toEqual({ ok: true, value: { n: value } });
  });
});

describe('case R19 a broken body is a problem, never a crash', () => {
  test.each([
    ['broken text', '{bad'],
    ['nothing', ''],
    ['white space', ' \n '],
    ['a byte order mark', '\ufeff{}'],
    ['duplicate keys', '{"a":1,"a":2}'],
    ['duplicate keys by escape', String.raw`{"a":1,"\u0061":2}`],
    ['a comment', '{/* */}'],
    ['a trailing comma', '[1,]'],
    ['two documents', '{} {}'],
    ['a raw control character', '"\u0001"'],
    ['depth 100,000', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['depth 100,000 without an end', '{"a":'.repeat(100_000)],
  ])('%s', (_name, text) => {
    expect(parse(text).ok).toBe(false);
  });

  test.each([
    ['UTF-16 little endian', [0x7b, 0x00, 0x7d, 0x00]],
    ['UTF-16 big endian', [0x00, 0x7b, 0x00, 0x7d]],
    ['UTF-16 with a mark', [0xff, 0xfe, 0x7b, 0x00]],
    ['a lone continuation byte', [0x22, 0x80, 0x22]],
    ['an overlong NUL', [0x22, 0xc0, 0x80, 0x22]],
    ['an encoded surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22]],
  ])('%s', (_name, bytes) => {
    expect(parseJsonBytes(Uint8Array.from(bytes)).ok).toBe(false);
  });

  test('the deepest document that is taken, and one level more', () => {
    const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
    expect(parse(nested(MAX_JSON_DEPTH)).ok).toBe(true);
    expect(parse(nested(MAX_JSON_DEPTH + 1)).ok).toBe(false);
  });

  test('brackets inside strings are text', () => {
    const text = JSON.stringify({ a: `${'['.repeat(1000)}"\\` });
    expect(parse(text).ok).toBe(true);
  });

  test('the answer quotes nothing of the body', () => {
    expect(JSON.stringify(parse('{"password": hunter2}'))).not.toContain('hunter2');
  });

  test('the same key in different objects is fine', () => {
    expect(parse('{"a":{"x":1},"b":[{"x":1},{"x":1}]}').ok).toBe(true);
  });

  test('a million faults make a short answer', () => {
    const outcome = parse(`[${Array(10_000).fill('1e400').join(',')}]`);
    expect(pathsOf(outcome)).toHaveLength(MAX_FIELD_PROBLEMS);
  });
});

test('a key named __proto__ is data and changes no prototype', () => {
  const outcome = parse('{"__proto__":{"admin":true},"constructor":1}');
  if (!outcome.ok) throw new Error('refused');
  expect(JSON.stringify(outcome.value)).toBe('{"__proto__":{"admin":true},"constructor":1}');
  expect(Object.getPrototypeOf(outcome.value)).toBe(Object.prototype);
});
