import { describe, expect, test } from 'vitest';
import { z } from 'zod';

import { parseConfig } from '../../shared/config.ts';
import { defineHandler } from '../../shared/handler.ts';
import { handlerRegistry } from '../../shared/handler-registry.ts';
import {
  DEFAULT_JOBS_PER_INVOCATION,
  DEFAULT_PAGE_SIZE,
  MAX_ATTEMPTS,
  MAX_JOBS_PER_INVOCATION,
  MAX_JOB_HEADERS,
  MAX_JOB_HEADER_NAME_CHARS,
  MAX_JOB_HEADER_VALUE_CHARS,
  MAX_LEASE_SECONDS,
  MAX_PAGE_SIZE,
  MAX_PROGRESS_CHARS,
  MAX_QUEUE_NAME_CHARS,
  MAX_RUN_SECONDS,
  MAX_SCHEMA_VERSION,
  MAX_TYPE_NAME_CHARS,
  MIN_AUTH_SECRET_BYTES,
  MIN_LEASE_SECONDS,
} from '../../shared/limits.ts';
import { parseWith } from '../../shared/parse-with.ts';
import { Progress } from '../../shared/progress.ts';
import { enqueueRequest } from '../../shared/schemas/enqueue-request.ts';
import { listJobsQuery } from '../../shared/schemas/list-jobs-query.ts';
import { ManualClock } from './support/manual-clock.ts';

const JOB = { queue: 'q', type: 't', payload: null };

function headers(count: number): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`h${at}`, '']));
}

describe('a job at a limit is taken, one beyond it is refused', () => {
  test.each<[string, (amount: number) => unknown, number]>([
    ['queue', (chars) => 'q'.repeat(chars), MAX_QUEUE_NAME_CHARS],
    ['type', (chars) => 't'.repeat(chars), MAX_TYPE_NAME_CHARS],
    ['max_attempts', (amount) => amount, MAX_ATTEMPTS],
    ['schema_version', (amount) => amount, MAX_SCHEMA_VERSION],
    ['headers', headers, MAX_JOB_HEADERS],
    ['headers', (chars) => ({ ['n'.repeat(chars)]: '' }), MAX_JOB_HEADER_NAME_CHARS],
    ['headers', (chars) => ({ name: 'v'.repeat(chars) }), MAX_JOB_HEADER_VALUE_CHARS],
  ])('%s', (field, value, limit) => {
    const taken = (amount: number): boolean =>
      parseWith(enqueueRequest, { ...JOB, [field]: value(amount) }).ok;
    expect([taken(limit), taken(limit + 1)]).toEqual([true, false]);
  });
});

test('a page has its default, its largest size, and no larger one', () => {
  expect(parseWith(listJobsQuery, {})).toMatchObject({ value: { limit: DEFAULT_PAGE_SIZE } });
  const taken = (limit: number): boolean => parseWith(listJobsQuery, { limit: String(limit) }).ok;
  expect([taken(1), taken(MAX_PAGE_SIZE), taken(MAX_PAGE_SIZE + 1)]).toEqual([true, true, false]);
});

describe('a handler may declare times within their limits', () => {
  test.each([
    ['leaseSeconds', MIN_LEASE_SECONDS, MAX_LEASE_SECONDS],
    ['stepSeconds', 1, MAX_RUN_SECONDS],
    ['maxRunSeconds', 1, MAX_RUN_SECONDS],
  ])('%s', (field, least, most) => {
    const load = (seconds: number) => () =>
      handlerRegistry([
        defineHandler({ ...JOB, schema: z.unknown(), run: () => undefined, [field]: seconds }),
      ]);
    for (const seconds of [least, most]) expect(load(seconds)).not.toThrow();
    for (const seconds of [least - 1, most + 1]) expect(load(seconds)).toThrow(field);
  });

  test('and leaves the lease to the queue when it declares none', () => {
    const plain = defineHandler({ ...JOB, schema: z.unknown(), run: () => undefined });
    expect(handlerRegistry([plain]).leaseSeconds(JOB.queue)).toBeUndefined();
  });
});

test('a progress marker at the limit is kept whole, and a longer one is cut to it', () => {
  const progress = new Progress(new ManualClock(), 1);
  progress.report('p'.repeat(MAX_PROGRESS_CHARS));
  expect(progress.marker).toBe('p'.repeat(MAX_PROGRESS_CHARS));
  progress.report('p'.repeat(MAX_PROGRESS_CHARS + 1));
  expect(progress.marker).toHaveLength(MAX_PROGRESS_CHARS);
});

const VARIABLES = {
  DATABASE_URL: 'postgres://app:pw@ep-x.eu.aws.neon.tech/jobs',
  AUTH_SECRET: 's'.repeat(MIN_AUTH_SECRET_BYTES),
  POKE_SECRETS: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
};

test('C.2 a poke is for one job by default, and for no more than a bounded number', () => {
  const load = (jobs: unknown) => parseConfig({ ...VARIABLES, JOBS_PER_INVOCATION: jobs });
  expect(parseConfig(VARIABLES).jobsPerInvocation).toBe(DEFAULT_JOBS_PER_INVOCATION);
  expect(load('').jobsPerInvocation).toBe(1);
  for (const jobs of [1, 7, MAX_JOBS_PER_INVOCATION]) {
    expect([load(String(jobs)), load(jobs)]).toMatchObject([
      { jobsPerInvocation: jobs },
      { jobsPerInvocation: jobs },
    ]);
  }
  for (const jobs of [
    '0',
    '-1',
    '1.5',
    '1e1',
    '01',
    ' 1',
    'on',
    String(MAX_JOBS_PER_INVOCATION + 1),
    0,
    1.5,
    1e9,
    true,
  ]) {
    expect(() => load(jobs)).toThrow('JOBS_PER_INVOCATION');
  }
});

test('a token secret is long enough by its bytes', () => {
  const load = (secret: string) => () => parseConfig({ ...VARIABLES, AUTH_SECRET: secret });
  expect(load('é'.repeat(MIN_AUTH_SECRET_BYTES / 2))).not.toThrow();
  expect(load('s'.repeat(MIN_AUTH_SECRET_BYTES - 1))).toThrow('AUTH_SECRET');
});
