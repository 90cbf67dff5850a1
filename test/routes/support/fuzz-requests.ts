import fc from 'fast-check';

import { ROUTES } from '../../../functions/routes/index.ts';
import { QUEUES, anyField, fieldOf, freshId, oddText, oddValue, uuid } from './fuzz-values.ts';

/** One request, as plain values, so that a failing one can be printed and shrunk. */
export interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array<ArrayBuffer> | null;
  readonly token: 'all' | 'limited' | 'one scope' | 'junk' | 'none';
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'];
const job = { queue: 'fuzz', type: 'task', payload: null };
const held = { fencing_token: '1' };
const ids = ['01900000-0000-7000-8000-000000000001'];

interface Template {
  /** The end of the route's path. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Names of `FIELDS` that the message may have as well. */
  readonly optional: string;
}

/** A good body of each route that takes one. */
const TEMPLATES: readonly Template[] = [
  {
    path: '/jobs',
    body: job,
    optional:
      'id priority delay_seconds due_at max_attempts max_unknown_attempts escalate_after retry_budget_seconds ' +
      'schema_version ordering_key dedup_key on_duplicate tags headers',
  },
  { path: '/jobs/batch', body: { jobs: [job, job] }, optional: 'jobs' },
  { path: '/jobs/:id', body: { priority: 'low' }, optional: 'due_at priority' },
  {
    path: '/claims',
    body: { queues: ['fuzz', { name: 'other', weight: 3 }] },
    optional: 'queues claim_id lease_seconds limit seconds_per_job wait',
  },
  {
    path: '/:queue/claims',
    body: { limit: 2 },
    optional: 'claim_id lease_seconds limit seconds_per_job wait',
  },
  { path: '/heartbeat', body: { ...held, step: 1 }, optional: 'step progress lease_seconds' },
  { path: '/complete', body: { ...held, result: 1 }, optional: 'result claim_next' },
  {
    path: '/fail',
    body: { ...held, error: { code: 'e', message: 'm' } },
    optional: 'error class retry_after_seconds',
  },
  { path: '/release', body: held, optional: 'reason' },
  { path: '/snooze', body: { ...held, delay_seconds: 1 }, optional: 'delay_seconds reason' },
  { path: '/escalate', body: { ...held, question: 'q' }, optional: 'question' },
  { path: '/escalations/claims', body: {}, optional: 'queue job_id claim_id lease_seconds' },
  { path: '/send-back', body: { ...held, note: 'n' }, optional: 'note' },
  { path: '/cancel', body: {}, optional: 'reason' },
  {
    path: '/queues/:queue',
    body: { weight: 2 },
    optional:
      'lease_seconds max_attempts max_unknown_attempts retry_budget_seconds weight concurrency_limit rate_limit ' +
      'backoff_base_ms delivery target_url on_dead on_exhausted escalate_after',
  },
  { path: '/pause', body: {}, optional: 'reason' },
  { path: '/redrive', body: { job_ids: ids, reason: 'r' }, optional: 'job_ids per_second' },
  { path: '/discard', body: { job_ids: ids, reason: 'r' }, optional: 'job_ids' },
  {
    path: '/redrive-matching',
    body: { filter: { queue: 'fuzz' }, expected_count: 0, reason: 'r' },
    optional: 'filter expected_count dry_run per_second',
  },
  {
    path: '/discard-matching',
    body: { filter: { queue: 'fuzz' }, dry_run: true },
    optional: 'filter expected_count dry_run',
  },
  { path: '/dead-letters/:id', body: { note: 'n' }, optional: 'owner note' },
  { path: '/effects/:key', body: { state: 'done' }, optional: 'state result' },
  { path: '/work', body: { queue: 'fuzz', depth: 0 }, optional: 'depth' },
  {
    path: '/schedules/:name',
    body: { cron: '* * * * *', zone: 'UTC', queue: 'fuzz', type: 't', payload: 1 },
    optional: 'cron zone priority max_attempts missed overlap',
  },
];
const NO_TEMPLATE: Template = { path: '', body: {}, optional: 'reason' };

function templateOf(path: string): Template {
  const fitting = TEMPLATES.filter((template) => path.endsWith(template.path));
  return fitting.toSorted((left, right) => right.path.length - left.path.length)[0] ?? NO_TEMPLATE;
}

/** A good body for the route, with up to three fields of its own set, and perhaps one that it does not know. */
function messageFor(path: string): fc.Arbitrary<Record<string, unknown>> {
  const { body, optional } = templateOf(path);
  const own = fieldOf([...Object.keys(body), ...optional.split(' ')]);
  return fc
    .tuple(
      fc.array(own, { maxLength: 3 }),
      fc.oneof(
        { arbitrary: fc.constant([]), weight: 6 },
        { arbitrary: fc.tuple(anyField), weight: 1 },
      ),
    )
    .map(([known, others]) => ({ ...body, ...Object.fromEntries([...known, ...others]) }));
}

const utf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

/** Bytes that are good JSON of the wrong shape, bad JSON, or no text at all. */
const oddBody: fc.Arbitrary<Uint8Array<ArrayBuffer> | null> = fc.oneof(
  { arbitrary: oddValue.map((value) => utf8(JSON.stringify(value))), weight: 2 },
  {
    arbitrary: fc.uint8Array({ maxLength: 50 }).map((bytes) => Uint8Array.from(bytes)),
    weight: 2,
  },
  {
    arbitrary: fc.constantFrom(
      ...[
        '',
        '{',
        '{"queue":"fuzz","type":"t","payload":9007199254740993}',
        '{"queue":"fuzz","type":"t","payload":1e400}',
        '{"queue":"fuzz","queue":"other","type":"t","payload":1}',
        String.raw`{"queue":"fuzz","type":"t","payload":"\u0000"}`,
        String.raw`{"queue":"fuzz","type":"t","payload":"\ud800"}`,
        `{"queue":"fuzz","type":"t","payload":${'['.repeat(63)}${']'.repeat(63)}}`,
        '['.repeat(50_000),
        `{"a":${'{"a":'.repeat(2000)}1${'}'.repeat(2001)}`,
        `{"step":${'9'.repeat(400)},"fencing_token":"1"}`,
        `{"queue":"fuzz","type":"t","payload":"${'x'.repeat(300_000)}"}`,
        '\ufeff{}',
      ].map(utf8),
    ),
    weight: 2,
  },
  { arbitrary: fc.constant(null), weight: 2 },
);

function bodyFor(path: string): fc.Arbitrary<Uint8Array<ArrayBuffer> | null> {
  const message = messageFor(path);
  return fc.oneof(
    { arbitrary: message.map((value) => utf8(JSON.stringify(value))), weight: 8 },
    // Cut in the middle, bytes of a character too.
    {
      arbitrary: message.chain((value) => {
        const bytes = utf8(JSON.stringify({ ...value, cut: '🐘' }));
        return fc.nat(bytes.length).map((length) => bytes.slice(0, length));
      }),
      weight: 1,
    },
    { arbitrary: oddBody, weight: 2 },
  );
}

const pathPart = fc.oneof(
  { arbitrary: fc.constantFrom(...QUEUES).map(encodeURIComponent), weight: 3 },
  { arbitrary: fc.oneof(uuid, freshId), weight: 3 },
  {
    arbitrary: fc.constantFrom('%', '%00', '%ff', '%F0%9F', '..%2f..', 'a%2Fb', 'x'.repeat(3000)),
    weight: 1,
  },
  { arbitrary: oddText.map((text) => encodeURIComponent(text.toWellFormed())), weight: 1 },
);
const query = fc.oneof(
  { arbitrary: fc.constant(''), weight: 6 },
  {
    arbitrary: fc.array(anyField, { maxLength: 3 }).map((fields) => {
      const text = new URLSearchParams(
        fields.map(([name, value]): [string, string] => [name, queryText(value)]),
      ).toString();
      return text === '' ? '' : `?${text}`;
    }),
    weight: 3,
  },
  { arbitrary: fc.constantFrom('?', '?a', '?limit=%ff', '?limit=1&limit=2', '?=&&'), weight: 1 },
);

function queryText(value: unknown): string {
  return (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed();
}

/** A path of the route, its parts filled in. */
function pathFor(pattern: string): fc.Arbitrary<string> {
  const parts = pattern.split('/').map((part) => {
    if (!part.startsWith(':')) return fc.constant(part);
    const good = part === ':id' ? freshId : fc.constantFrom(...QUEUES).map(encodeURIComponent);
    return fc.oneof({ arbitrary: good, weight: 4 }, { arbitrary: pathPart, weight: 1 });
  });
  return fc.tuple(fc.tuple(...parts), query).map(([filled, search]) => filled.join('/') + search);
}

const oddHeader = fc.oneof(
  fc.constantFrom(
    '',
    'x'.repeat(8000),
    'a, b',
    '"open',
    '"quoted"',
    'é',
    '0',
    '-1',
    '1e9',
    'null',
    '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  ),
  fc.string({ unit: 'grapheme-ascii', maxLength: 30 }).map((text) => text.trim()),
);
const headers = fc.array(
  fc.tuple(
    fc.constantFrom(
      'idempotency-key',
      'traceparent',
      'tracestate',
      'x-request-id',
      'content-encoding',
      'content-type',
      'accept',
      'webhook-signature',
      'webhook-id',
      'webhook-timestamp',
      'content-length',
      'if-none-match',
      'last-event-id',
    ),
    oddHeader,
  ),
  { maxLength: 2 },
);

const token = fc.oneof(
  { arbitrary: fc.constant('all' as const), weight: 15 },
  {
    arbitrary: fc.constantFrom(...(['limited', 'one scope', 'junk', 'none'] as const)),
    weight: 1,
  },
);
const oddHeaders = fc.oneof(
  { arbitrary: fc.constant([]), weight: 3 },
  { arbitrary: headers, weight: 1 },
);

const toRoute: fc.Arbitrary<FuzzRequest> = fc.constantFrom(...ROUTES).chain((route) =>
  fc.record({
    method: fc.oneof(
      { arbitrary: fc.constant<string>(route.method), weight: 12 },
      { arbitrary: fc.constantFrom(...METHODS), weight: 1 },
    ),
    path: pathFor(route.path),
    headers: oddHeaders,
    body: bodyFor(route.path),
    token,
  }),
);
const toNowhere: fc.Arbitrary<FuzzRequest> = fc.record({
  method: fc.constantFrom(...METHODS),
  path: fc.array(pathPart, { maxLength: 3 }).map((parts) => `/${parts.join('/')}`),
  headers: oddHeaders,
  body: oddBody,
  token,
});

/** Every kind of malformed request, over all routes there are; a few are good. */
export const fuzzRequest: fc.Arbitrary<FuzzRequest> = fc.oneof(
  { arbitrary: toRoute, weight: 30 },
  { arbitrary: toNowhere, weight: 1 },
);
