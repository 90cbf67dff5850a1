/** What the service takes, the document allows: no generated client refuses a request that would have been fine. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { JsonObject } from '../../shared/json-value.ts';
import { COMPONENTS } from '../../shared/openapi/components.ts';
import { OPERATIONS } from '../../shared/openapi/operations.ts';
import { createSchemaJudge } from './support/answer-checker.ts';
import { GENERATED } from './support/documents.ts';

const judge = createSchemaJudge(GENERATED);

/** Values at and over the edges of what any field takes. */
const VALUE = fc.oneof(
  fc.constantFrom(null, true, false, 0, -1, 1, 0.5, 20, 21, 100, 101, 3600, 3601, 1e9, 1e15),
  fc.constantFrom('', 'a', '.', ' a', 'normal', 'low', 'permanent', 'done', '7', '007', 'push'),
  fc.constantFrom('2030-01-31T12:00:00Z', '2030-01-31T12:00:00+01:00', '2030-01-31', 'soon'),
  fc.constantFrom('0193a1b2-c3d4-7e5f-8a6b-0123456789ab', '0193A1B2-C3D4-7E5F-8A6B-0123456789AB'),
  fc.constantFrom(
    ...[128, 129, 200, 201, 1000, 1001].flatMap((many) => ['x'.repeat(many), '🎈'.repeat(many)]),
  ),
  fc.constantFrom('a\u0000b', 'a\nb', '\ud800', 'https://example.com/'),
  fc.constantFrom(
    [],
    ['a'],
    ['a', 'a'],
    Array.from({ length: 21 }, () => 'a'),
    [1],
    [{}],
  ),
  fc.constantFrom(
    {},
    { code: 'x', message: 'y', more: 1 },
    { code: 'x' },
    { queue: 'q' },
    { a: 'b' },
    { A: 'b' },
  ),
);

const requests = OPERATIONS.flatMap(({ id, body }) =>
  body === undefined ? [] : [{ id, ...body }],
);

describe('S2.9 requests that are taken are allowed by the document', () => {
  test.each(requests)('$id', ({ schema, example }) => {
    const described = GENERATED['components'] as unknown as {
      schemas: Record<string, { properties: JsonObject }>;
    };
    const fields = Object.keys(described.schemas[schema]?.properties ?? {});
    let taken = 0;
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...fields, 'unknown'), VALUE), { maxLength: 3 }),
        fc.oneof(
          { weight: 3, arbitrary: fc.constant<string[]>([]) },
          fc.subarray(Object.keys(example)),
        ),
        (changes, dropped) => {
          const request = Object.fromEntries(
            [...Object.entries(example), ...changes].filter(
              ([name], at, all) =>
                all.findLastIndex(([other]) => other === name) === at &&
                (changes.some(([other]) => other === name) || !dropped.includes(name)),
            ),
          );
          if (!COMPONENTS[schema].safeParse(request).success) return;
          taken += 1;
          expect(judge(`#/components/schemas/${schema}`, request)).toBeUndefined();
        },
      ),
      { numRuns: 500 },
    );
    expect(taken).toBeGreaterThan(10);
  });
});

describe('S2.9 rules that the document can state, it states', () => {
  const enqueue = { queue: 'q', type: 't', payload: 1 };
  const REFUSED: readonly (readonly [schema: keyof typeof COMPONENTS, request: JsonObject])[] = [
    ['EnqueueRequest', { ...enqueue, queue: '' }],
    ['EnqueueRequest', { ...enqueue, queue: 'x'.repeat(129) }],
    ['EnqueueRequest', { ...enqueue, priority: 'asap' }],
    ['EnqueueRequest', { ...enqueue, prioritty: 'high' }],
    ['EnqueueRequest', { ...enqueue, delay_seconds: 1, due_at: '2030-01-31T12:00:00Z' }],
    ['EnqueueRequest', { ...enqueue, on_duplicate: 'replace' }],
    ['EnqueueRequest', { ...enqueue, dedup_key: 'a\u0000' }],
    ['EnqueueRequest', { ...enqueue, headers: { A: 'b' } }],
    ['EnqueueRequest', { queue: 'q', type: 't' }],
    ['EnqueueBatchRequest', { jobs: [] }],
    ['EditJobRequest', {}],
    ['ClaimRequest', { limit: 101 }],
    ['ClaimQueuesRequest', { queues: [] }],
    ['HeartbeatRequest', { fencing_token: '0', step: 1 }],
    ['CompleteRequest', { fencing_token: '1', result: 1, result_problem: 'x' }],
    ['FailRequest', { fencing_token: '1', error: { code: 'x' } }],
    ['SnoozeRequest', { fencing_token: '1', delay_seconds: 0 }],
    ['NoteDeadLetterRequest', {}],
    ['RedriveMatchingRequest', { filter: {}, dry_run: true }],
    ['RedriveMatchingRequest', { filter: { queue: 'q' }, expected_count: 1 }],
    ['DiscardMatchingRequest', { filter: { queue: 'q' }, dry_run: false }],
    ['SettleEffectRequest', { state: 'not_done', result: 1 }],
  ];
  test.each(REFUSED)('%s %j', (schema, request) => {
    expect(COMPONENTS[schema].safeParse(request).success).toBe(false);
    expect(judge(`#/components/schemas/${schema}`, request)).toBeDefined();
  });
});
