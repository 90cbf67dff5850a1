import { describe, expect, test } from 'vitest';

import { MAX_BATCH_JOBS, MAX_DELAY_SECONDS, MAX_PAYLOAD_BYTES } from '../../shared/limits.ts';
import { parseWith } from '../../shared/parse-with.ts';
import { enqueueBatchRequest } from '../../shared/schemas/enqueue-batch-request.ts';
import { enqueueRequest } from '../../shared/schemas/enqueue-request.ts';

const JOB = { queue: 'emails', type: 'email.send', payload: { to: 'a@example.com' } };

function problems(fields: Readonly<Record<string, unknown>>): { path: string; message: string }[] {
  const outcome = parseWith(enqueueRequest, { ...JOB, ...fields });
  return outcome.ok ? [] : [...outcome.problems];
}

describe('case A5 a value out of range is refused with field and range', () => {
  test.each([2147483648, -2147483649, 1.5, Number.NaN, '5', true, null])(
    'priority %j',
    (priority) => {
      expect(problems({ priority })).toEqual([
        { path: 'priority', message: 'must be one of "urgent", "high", "normal", "low"' },
      ]);
    },
  );

  test.each([-1e15, -1, 1e308, MAX_DELAY_SECONDS + 1, '5', Number.POSITIVE_INFINITY])(
    'delay_seconds %j',
    (value) => {
      expect(problems({ delay_seconds: value })).toEqual([
        {
          path: 'delay_seconds',
          message: `must be a number of seconds from 0 to ${MAX_DELAY_SECONDS}`,
        },
      ]);
    },
  );

  test.each([0, -1, 101, 1.5, '3'])('max_attempts %j', (value) => {
    expect(problems({ max_attempts: value })).toEqual([
      { path: 'max_attempts', message: 'must be an integer from 1 to 100' },
    ]);
  });

  test.each([0, 1_000_001, 1.5])('schema_version %j', (value) => {
    expect(problems({ schema_version: value })[0]?.path).toBe('schema_version');
  });

  test.each(['tomorrow', '2030-01-01', '2030-01-01T00:00:00', '2030-02-30T00:00:00Z', 5])(
    'due_at %j',
    (value) => {
      expect(problems({ due_at: value })[0]?.path).toBe('due_at');
    },
  );

  test.each([0, -0, 0.25, MAX_DELAY_SECONDS])('delay_seconds %j is taken', (value) => {
    expect(problems({ delay_seconds: value })).toEqual([]);
  });
});

test('case L3 a refused name comes with the rule', () => {
  for (const name of ['', ' ', '.', 'a\u0000', 'a'.repeat(129)]) {
    expect(problems({ queue: name })).toEqual([
      {
        path: 'queue',
        message:
          'must be 1 to 128 characters, with no control characters, no white space at either end, and not "." or ".."',
      },
    ]);
    expect(problems({ type: name })[0]?.path).toBe('type');
  }
});

test('an unknown field is refused by its name, __proto__ among them', () => {
  expect(problems({ delay_second: 5 })).toEqual([
    { path: 'delay_second', message: 'is not a known field' },
  ]);
  const forged: unknown = JSON.parse('{"queue":"q","type":"t","payload":1,"__proto__":{"a":1}}');
  expect(parseWith(enqueueRequest, forged)).toEqual({
    ok: false,
    problems: [{ path: '__proto__', message: 'is not a known field' }],
  });
});

test('a payload passes through with every key it has', () => {
  const payload: unknown = JSON.parse('{"__proto__":{"a":1},"b":[{"__proto__":2}]}');
  const outcome = parseWith(enqueueRequest, { ...JOB, payload });
  expect(outcome.ok && JSON.stringify(outcome.value.payload)).toBe(JSON.stringify(payload));
});

test('null is a payload, and none is not', () => {
  expect(problems({ payload: null })).toEqual([]);
  expect(problems({ payload: undefined })).toEqual([
    { path: 'payload', message: 'is required; it may be any JSON value' },
  ]);
});

test('a payload at the limit is taken, a byte more is not', () => {
  const atLimit = 'é'.repeat((MAX_PAYLOAD_BYTES - 2) / 2);
  expect(problems({ payload: atLimit })).toEqual([]);
  expect(problems({ payload: `${atLimit}x` })[0]?.path).toBe('payload');
});

test('delay_seconds and due_at exclude each other', () => {
  expect(problems({ delay_seconds: 1, due_at: '2030-01-01T00:00:00Z' })[0]?.path).toBe('due_at');
});

test.each([
  ['a value that is no string', { a: 1 }],
  ['a name with a space', { 'a b': 'x' }],
  ['a line break', { a: 'x\r\ny' }],
  ['seventeen', Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`h${at}`, 'x']))],
  ['__proto__', JSON.parse('{"__proto__":"x"}') as unknown],
])('headers with %s are refused', (_name, headers) => {
  expect(problems({ headers })[0]?.path).toBe('headers');
});

test('an id is a UUID of version 7, kept in lower case', () => {
  const id = '0193A1B2-C3D4-7E5F-8A6B-0123456789AB';
  const outcome = parseWith(enqueueRequest, { ...JOB, id });
  expect(outcome.ok && outcome.value.id).toBe(id.toLowerCase());
  expect(problems({ id: '0193a1b2-c3d4-4e5f-8a6b-0123456789ab' })[0]?.path).toBe('id');
});

describe('a batch', () => {
  test('names each fault by its job', () => {
    const outcome = parseWith(enqueueBatchRequest, {
      jobs: [JOB, { ...JOB, queue: '..' }, { ...JOB, extra: 1 }],
    });
    expect(outcome.ok ? [] : outcome.problems.map(({ path }) => path)).toEqual([
      'jobs[1].queue',
      'jobs[2].extra',
    ]);
  });

  test('has 1 to 1,000 jobs', () => {
    const of = (length: number): boolean =>
      parseWith(enqueueBatchRequest, { jobs: Array.from({ length }, () => JOB) }).ok;
    expect([of(0), of(1), of(MAX_BATCH_JOBS), of(MAX_BATCH_JOBS + 1)]).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });

  test('does not hold one id twice', () => {
    const id = '0193a1b2-c3d4-7e5f-8a6b-0123456789ab';
    const outcome = parseWith(enqueueBatchRequest, {
      jobs: [{ ...JOB, id }, JOB, { ...JOB, id: id.toUpperCase() }],
    });
    expect(outcome).toEqual({
      ok: false,
      problems: [{ path: 'jobs[2].id', message: 'repeats the id of jobs[0]' }],
    });
  });
});
