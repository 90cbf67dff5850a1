import fc from 'fast-check';

import { webClock } from '../../../functions/web-ports.ts';

export const QUEUES = ['fuzz', 'other', 'fuzz/slash'];

export const uuid = fc.constantFrom(
  '01900000-0000-7000-8000-000000000001',
  '019ad2c0-5a00-7000-8000-000000000000',
  '00000000-0000-0000-0000-000000000000',
  'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
);
const NOW_MS = webClock.now();
/** A handful, of the database's time: good for new jobs, and met again by later requests. */
export const freshId = fc.nat(4).map((at) => {
  const time = NOW_MS.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-00000000000${at}`;
});

export const oddText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '',
    ' ',
    '.',
    '..',
    '%',
    '%00',
    '\u0000',
    '\ud800',
    "'; drop table leasehold.jobs; --",
    '__proto__',
    'constructor',
    '🐘'.repeat(300),
    'x'.repeat(5000),
    '-infinity',
    'NaN',
    '1e400',
  ),
);
const oddNumber = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.maxSafeInteger(),
  fc.constantFrom(0, -0, -1, 2 ** 31, 2 ** 53, 2 ** 63, 1e308, -1e308, 5e-324, 0.5),
);
export const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  oddText,
  oddNumber,
  fc.constantFrom(null, true, false, [], {}, [[]], { a: { b: null } }),
  fc.jsonValue({ maxDepth: 3 }),
);

const instant = fc.constantFrom(
  '2030-01-31T12:00:00Z',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59+14:00',
  '2026-11-30T08:00:00.123456789012345678901234567890Z',
  '2026-11-30T08:00:00+23:59',
  '1969-12-31T23:59:59Z',
);

/** Values that fit the field, so that a request gets past the first check. */
const FIELDS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  id: freshId,
  queue: fc.constantFrom(...QUEUES),
  type: fc.constantFrom('task', 't'.repeat(128)),
  payload: fc.jsonValue({ maxDepth: 4 }),
  priority: fc.constantFrom('urgent', 'low'),
  delay_seconds: fc.constantFrom(0, 0.001, 31_622_400),
  due_at: instant,
  max_attempts: fc.integer({ min: 1, max: 100 }),
  max_unknown_attempts: fc.integer({ min: 1, max: 100 }),
  escalate_after: fc.integer({ min: 1, max: 100 }),
  retry_budget_seconds: fc.integer({ min: 1, max: 31_622_400 }),
  schema_version: fc.constant(1),
  ordering_key: fc.constantFrom('a', 'b'),
  dedup_key: fc.constantFrom('d', 'é'),
  on_duplicate: fc.constantFrom('return', 'replace'),
  tags: fc.array(fc.constantFrom('red', 'blue'), { maxLength: 3 }),
  headers: fc.constantFrom({}, { a: 'b' }),
  jobs: fc.array(fc.record({ queue: fc.constant('fuzz'), type: oddText, payload: oddValue }), {
    maxLength: 3,
  }),
  claim_id: uuid,
  claim_next: fc.constantFrom({ queue: 'fuzz' }, { queue: 'other', lease_seconds: 1 }, {}),
  lease_seconds: fc.integer({ min: 1, max: 3600 }),
  limit: fc.integer({ min: 1, max: 100 }),
  seconds_per_job: fc.integer({ min: 1, max: 3600 }),
  wait: fc.constantFrom(0, 1, 20),
  queues: fc.array(fc.oneof(fc.constantFrom(...QUEUES), fc.record({ name: oddText })), {
    maxLength: 3,
  }),
  fencing_token: fc.constantFrom('1', '2', '9223372036854775807', '9223372036854775808'),
  step: fc.nat(),
  progress: fc.constantFrom('half', ''),
  result: fc.jsonValue(),
  error: fc.constantFrom({ code: 'e', message: 'm' }, { code: 'e' }, 'text'),
  class: fc.constantFrom('permanent', 'transient', 'unknown'),
  retry_after_seconds: fc.constantFrom(0, 2_592_000),
  reason: fc.constantFrom('because', '\t'),
  job_ids: fc.array(fc.oneof(uuid, freshId), { maxLength: 3 }),
  per_second: fc.integer({ min: 1, max: 1000 }),
  filter: fc.constantFrom({ queue: 'fuzz' }, { from: '2026-01-01T00:00:00Z' }, {}),
  expected_count: fc.nat(2),
  dry_run: fc.boolean(),
  owner: fc.constantFrom('maria'),
  note: fc.constantFrom('n'),
  question: fc.constantFrom('q', 'x'.repeat(4000)),
  job_id: uuid,
  state: fc.constantFrom('done', 'not_done', 'dead', 'pending'),
  weight: fc.integer({ min: 1, max: 100 }),
  concurrency_limit: fc.constantFrom(null, 1),
  rate_limit: fc.constantFrom(null, 10),
  backoff_base_ms: fc.constantFrom(0, 2_592_000_000),
  delivery: fc.constantFrom('handler', 'push', 'pull'),
  target_url: fc.constantFrom('https://hooks.example.com/', 'https://10.0.0.1/', 'nonsense', null),
  on_dead: fc.constantFrom('block', 'continue'),
  on_exhausted: fc.constantFrom('dead', 'escalate'),
  depth: fc.nat(8),
  cron: fc.constantFrom('* * * * *', '0 0 30 2 *', '60 * * * *'),
  zone: fc.constantFrom('UTC', 'Mars/Base'),
  missed: fc.constantFrom('skip', 'latest', 'all'),
  overlap: fc.constantFrom('allow', 'skip'),
  tag: fc.constant('red'),
  cursor: fc.oneof(uuid, fc.constantFrom('fuzz', '1_019ad2c0-5a00-7000-8000-000000000000')),
  from: instant,
  until: instant,
};

/** One of these fields, with a value that fits four times out of five. */
export function fieldOf(names: readonly string[]): fc.Arbitrary<[name: string, value: unknown]> {
  return fc
    .constantFrom(...names)
    .chain((name) =>
      fc.tuple(
        fc.constant(name),
        fc.oneof(
          { arbitrary: FIELDS[name] ?? oddValue, weight: 4 },
          { arbitrary: oddValue, weight: 1 },
        ),
      ),
    );
}

export const anyField = fieldOf(Object.keys(FIELDS));
