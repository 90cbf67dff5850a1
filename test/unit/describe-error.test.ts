import { describe, expect, test } from 'vitest';

import { describeError } from '../../shared/describe-error.ts';
import { PermanentError } from '../../shared/handler-errors.ts';
import { jsonTextBytes } from '../../shared/json-size.ts';
import { parseJsonString } from '../../shared/json-text.ts';
import { MAX_ERROR_BYTES, MAX_ERROR_MESSAGE_CHARS } from '../../shared/limits.ts';

const hostile = (): never => {
  throw new Error('trap');
};

const HOSTILE_PROXY: unknown = new Proxy(() => undefined, {
  get: hostile,
  has: hostile,
  getPrototypeOf: hostile,
  ownKeys: hostile,
  getOwnPropertyDescriptor: hostile,
  apply: hostile,
});

describe('case B1 whatever is thrown has a description', () => {
  test.each([
    ['null', null, 'null was thrown'],
    ['undefined', undefined, 'undefined was thrown'],
    ['text', 'text', 'text'],
    ['empty text', '', 'An empty string was thrown'],
    ['0', 0, '0 was thrown'],
    ['a BigInt', 10n, '10 was thrown'],
    ['a symbol', Symbol('why'), 'Symbol(why) was thrown'],
    ['{}', {}, 'An object was thrown without a message'],
    ['an empty error', new Error(''), 'Error was thrown without a message'],
    [
      'a message that is no text',
      { message: { text: 1 } },
      'An object was thrown without a message',
    ],
    [
      'a message getter that throws',
      Object.defineProperty({}, 'message', { get: hostile }),
      'An object was thrown without a message',
    ],
    ['a hostile proxy', HOSTILE_PROXY, 'An object was thrown without a message'],
    [
      'an object without a prototype',
      Object.create(null),
      'An object was thrown without a message',
    ],
    ['only NULs', '\u0000\u0000', 'An empty string was thrown'],
  ])('%s', (_name, thrown, message) => {
    const error = describeError(thrown);
    expect(error).toMatchObject({ code: 'handler_error', message });
  });
});

describe('case B3 a description is bounded, storable and keeps the original message', () => {
  const circular = new Error('circular');
  circular.cause = circular;

  const deep = new Error('the top');
  let inner = deep;
  for (let level = 0; level < 10_000; level += 1) {
    const cause = new Error(`level ${level}`);
    inner.cause = cause;
    inner = cause;
  }

  const odd = Object.assign(new Error('odd'), {
    big: 10n,
    run: () => undefined,
    proxy: HOSTILE_PROXY,
    toJSON: hostile,
    socket: { self: undefined as unknown },
  });
  odd.socket.self = odd.socket;

  const many = new AggregateError(
    Array.from({ length: 5000 }, (_, at) => new Error(`member ${at}`)),
    'many',
  );

  test.each([
    ['a cause that is itself', circular, 'circular'],
    ['10,000 causes', deep, 'the top'],
    ['odd properties', odd, 'odd'],
    ['5,000 members', many, 'many'],
    ['control characters', new Error(`\u0001`.repeat(100_000)), ''],
    ['a lone surrogate', new Error('a\ud800'), 'a\ufffd'],
    ['a NUL', new Error('a\u0000b'), 'ab'],
    ['a megabyte', new Error('m'.repeat(1_000_000)), 'm'.repeat(1000)],
  ])('%s', (_name, thrown, start) => {
    const error = describeError(thrown);
    expect(error.message.startsWith(start)).toBe(true);
    expect(error.message.length).toBeGreaterThan(0);
    expect(error.message.length).toBeLessThanOrEqual(MAX_ERROR_MESSAGE_CHARS);
    expect(jsonTextBytes(error)).toBeLessThanOrEqual(MAX_ERROR_BYTES);
    expect(parseJsonString(JSON.stringify(error)).ok).toBe(true);
  });

  test('of many members the first few and the count are kept', () => {
    const error = describeError(many);
    expect(error['error_count']).toBe(5000);
    expect(error['errors']).toHaveLength(5);
  });

  test('of many causes the nearest are kept', () => {
    expect(describeError(deep)['causes']).toMatchObject([
      { message: 'level 0' },
      { message: 'level 1' },
      { message: 'level 2' },
      { message: 'level 3' },
      { message: 'level 4' },
    ]);
  });
});

test('a classed error chooses its code', () => {
  const thrown = new PermanentError('card_declined', 'The bank said no.');
  expect(describeError(thrown)).toMatchObject({
    code: 'card_declined',
    name: 'PermanentError',
    message: 'The bank said no.',
  });
  expect(new PermanentError('Not A Code', 'x').code).toBe('handler_error');
});
