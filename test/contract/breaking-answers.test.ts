import { describe, expect, test } from 'vitest';

import { breakingChanges } from '../../shared/openapi/breaking-changes.ts';
import { at, bent, enqueue, field, remove, schema, set } from './support/bent.ts';
import type { Bent } from './support/bent.ts';
import { GENERATED } from './support/documents.ts';

type Bend = (document: Bent) => void;

const BREAKING: readonly (readonly [name: string, bend: Bend, told: string])[] = [
  [
    'a removed answer',
    (d) => delete at(enqueue(d), 'responses')['201'],
    'POST /v1/jobs: answer 201 is gone',
  ],
  [
    'a removed field of an answer',
    (d) => {
      delete at(schema(d, 'Job'), 'properties')['result'];
      set(schema(d, 'Job'), 'required', remove(schema(d, 'Job')['required'], 'result'));
    },
    'GET /v1/jobs/{id}: answer 200: body.result: is gone',
  ],
  [
    'a removed optional field of an answer',
    (d) => delete at(schema(d, 'EnqueuedJob'), 'properties')['outcome'],
    'POST /v1/jobs: answer 201: body.outcome: is gone',
  ],
  [
    'a field of an answer that may be missing',
    (d) => set(schema(d, 'JobPage'), 'required', ['jobs']),
    'GET /v1/jobs: answer 200: body.next_cursor: may be missing from now on',
  ],
  [
    'a field of an answer that may be null',
    (d) =>
      set(at(schema(d, 'Job'), 'properties'), 'queue', {
        anyOf: [{ type: 'string' }, { type: 'null' }],
      }),
    'GET /v1/jobs/{id}: answer 200: body.queue: type "string" → "null"',
  ],
  [
    'another type in an answer',
    (d) => set(field(d, 'Claim', 'claim_id'), 'type', 'integer'),
    'POST /v1/claims: answer 200: body.claim_id: type "string" → "integer"',
  ],
  [
    'a new word in an answer',
    (d) =>
      set(field(d, 'CancelOutcome', 'outcome'), 'enum', ['cancelled', 'cancel_requested', 'maybe']),
    'POST /v1/jobs/{id}/cancel: answer 200: body.outcome: may be "maybe" from now on',
  ],
  [
    'a header that is gone',
    (d) => set(at(enqueue(d), 'responses', '201'), 'headers', {}),
    'POST /v1/jobs: answer 201: the header Location is gone',
  ],
  [
    'a removed error code',
    (d) =>
      set(
        at(
          d,
          'components',
          'responses',
          'job_id_conflict-or-idempotency_key_in_flight',
          'content',
          'application/problem+json',
          'schema',
          'properties',
          'code',
        ),
        'x-extensible-enum',
        ['idempotency_key_in_flight'],
      ),
    'POST /v1/jobs: answer 409: the error code job_id_conflict is gone',
  ],
  [
    'an error status that is gone',
    (d) => delete at(enqueue(d), 'responses')['409'],
    'POST /v1/jobs: answer 409: the error code job_id_conflict is gone',
  ],
];

const COMPATIBLE: readonly (readonly [name: string, bend: Bend])[] = [
  [
    'a new field of an answer',
    (d) => {
      set(at(schema(d, 'Job'), 'properties'), 'team', { type: 'string' });
      set(schema(d, 'Job'), 'required', [
        ...(schema(d, 'Job')['required'] as unknown as string[]),
        'team',
      ]);
    },
  ],
  [
    'a new word where more were announced',
    (d) => set(field(d, 'Job', 'state'), 'x-extensible-enum', ['pending', 'escalated']),
  ],
  [
    'an answer that is never null any more',
    (d) =>
      set(at(schema(d, 'Job'), 'properties'), 'redrives', {
        type: 'integer',
        minimum: 0,
        maximum: 9007199254740991,
      }),
  ],
  [
    'a new error code',
    (d) =>
      set(
        at(
          d,
          'components',
          'responses',
          'not_found',
          'content',
          'application/problem+json',
          'schema',
          'properties',
          'code',
        ),
        'x-extensible-enum',
        ['not_found', 'gone'],
      ),
  ],
];

describe('S2.9 a change of answers that breaks the contract is named', () => {
  test.each(BREAKING)('%s', (_name, bend, told) => {
    const changes = breakingChanges(GENERATED, bent(bend));
    expect(changes.filter((change) => change.startsWith(told))).not.toEqual([]);
  });
});

describe('S2.9 a change of answers that breaks nothing passes', () => {
  test.each(COMPATIBLE)('%s', (_name, bend) => {
    expect(breakingChanges(GENERATED, bent(bend))).toEqual([]);
  });
});
