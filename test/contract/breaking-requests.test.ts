import { describe, expect, test } from 'vitest';

import { breakingChanges } from '../../shared/openapi/breaking-changes.ts';
import { at, bent, enqueue, field, schema, set } from './support/bent.ts';
import type { Bent } from './support/bent.ts';
import { GENERATED } from './support/documents.ts';

type Bend = (document: Bent) => void;

const BREAKING: readonly (readonly [name: string, bend: Bend, told: string])[] = [
  [
    'a removed route',
    (d) => delete at(d, 'paths', '/v1/jobs/{id}')['get'],
    'GET /v1/jobs/{id}: the route is gone',
  ],
  [
    'a removed path',
    (d) => delete at(d, 'paths')['/v1/claims'],
    'POST /v1/claims: the route is gone',
  ],
  [
    'another scope',
    (d) => set(enqueue(d), 'security', [{ bearer: ['operate'] }]),
    'POST /v1/jobs: who may call it has changed, [{"bearer":["enqueue"]}] → [{"bearer":["operate"]}]',
  ],
  [
    'a scope where there was none',
    (d) => set(at(d, 'paths', '/v1/health', 'get'), 'security', [{ bearer: ['read'] }]),
    'GET /v1/health: who may call it has changed',
  ],
  [
    'another operationId',
    (d) => set(enqueue(d), 'operationId', 'addJob'),
    'POST /v1/jobs: operationId "enqueueJob" → "addJob"',
  ],
  [
    'a removed parameter',
    (d) =>
      at(d, 'paths', '/v1/jobs', 'get', 'parameters')['0'] &&
      set(at(d, 'paths', '/v1/jobs', 'get'), 'parameters', []),
    'GET /v1/jobs: query parameter state is gone',
  ],
  [
    'a new required parameter',
    (d) =>
      set(at(d, 'paths', '/v1/jobs', 'get'), 'parameters', [
        ...(at(d, 'paths', '/v1/jobs', 'get')['parameters'] as unknown as object[]),
        { name: 'team', in: 'query', required: true, schema: {} },
      ]),
    'GET /v1/jobs: query parameter team is required from now on',
  ],
  [
    'a shorter page',
    (d) => set(at(d, 'paths', '/v1/jobs', 'get', 'parameters', '8', 'schema'), 'maximum', 100),
    'GET /v1/jobs: query parameter limit: maximum 200 → 100',
  ],
  [
    'a key that must be sent',
    (d) => set(at(d, 'components', 'parameters', 'IdempotencyKey'), 'required', true),
    'POST /v1/jobs: header parameter Idempotency-Key is required from now on',
  ],
  [
    'a new required field of a request',
    (d) => set(schema(d, 'EnqueueRequest'), 'required', ['queue', 'type', 'payload', 'priority']),
    'POST /v1/jobs: body.priority: is required from now on',
  ],
  [
    'a removed field of a request',
    (d) => delete at(schema(d, 'EnqueueRequest'), 'properties')['tags'],
    'POST /v1/jobs: body.tags: is refused from now on',
  ],
  [
    'the same within a list',
    (d) => delete at(schema(d, 'EnqueueRequest'), 'properties')['tags'],
    'POST /v1/jobs/batch: body.jobs[].tags: is refused from now on',
  ],
  [
    'a smaller maximum',
    (d) => set(field(d, 'EnqueueRequest', 'delay_seconds'), 'maximum', 60),
    'POST /v1/jobs: body.delay_seconds: maximum 31622400 → 60',
  ],
  [
    'a larger minimum',
    (d) => set(field(d, 'ClaimRequest', 'lease_seconds'), 'minimum', 5),
    'POST /v1/queues/{queue}/claims: body.lease_seconds: minimum 1 → 5',
  ],
  [
    'a shorter text',
    (d) => set(field(d, 'EnqueueRequest', 'queue'), 'maxLength', 64),
    'POST /v1/jobs: body.queue: maxLength 128 → 64',
  ],
  [
    'a smaller payload',
    (d) => set(field(d, 'EnqueueRequest', 'payload'), 'x-max-bytes', 1024),
    'POST /v1/jobs: body.payload: x-max-bytes 262144 → 1024',
  ],
  [
    'a smaller batch',
    (d) => set(field(d, 'EnqueueBatchRequest', 'jobs'), 'maxItems', 10),
    'POST /v1/jobs/batch: body.jobs: maxItems 1000 → 10',
  ],
  [
    'another pattern',
    (d) => set(field(d, 'HeartbeatRequest', 'fencing_token'), 'pattern', '^[0-9]$'),
    'POST /v1/leases/{id}/heartbeat: body.fencing_token: pattern',
  ],
  [
    'a value that is refused',
    (d) => set(field(d, 'EnqueueRequest', 'priority'), 'enum', ['urgent', 'high', 'normal']),
    'POST /v1/jobs: body.priority: the value "low" is refused from now on',
  ],
  [
    'a type that is refused',
    (d) => set(field(d, 'EnqueueRequest', 'delay_seconds'), 'type', 'integer'),
    'POST /v1/jobs: body.delay_seconds: type "number" → "integer"',
  ],
  [
    'null that is refused',
    (d) => set(at(schema(d, 'QueueSettings'), 'properties'), 'rate_limit', { type: 'integer' }),
    'PUT /v1/queues/{queue}: body.rate_limit: type "null" → "integer"',
  ],
  [
    'fields that must go together',
    (d) => set(schema(d, 'EnqueueRequest'), 'dependentRequired', { tags: ['priority'] }),
    'POST /v1/jobs: body: dependentRequired',
  ],
  [
    'a body that is required',
    (d) => set(at(d, 'paths', '/v1/jobs/{id}/cancel', 'post', 'requestBody'), 'required', true),
    'POST /v1/jobs/{id}/cancel: body is required from now on',
  ],
  ['a removed body', (d) => delete enqueue(d)['requestBody'], 'POST /v1/jobs: body is gone'],
];

const COMPATIBLE: readonly (readonly [name: string, bend: Bend])[] = [
  ['nothing', () => undefined],
  ['a new route', (d) => set(at(d, 'paths'), '/v2/jobs', at(d, 'paths', '/v1/jobs'))],
  [
    'a new optional parameter',
    (d) =>
      set(at(d, 'paths', '/v1/jobs', 'get'), 'parameters', [
        ...(at(d, 'paths', '/v1/jobs', 'get')['parameters'] as unknown as object[]),
        { name: 'team', in: 'query', required: false, schema: {} },
      ]),
  ],
  [
    'a new optional field of a request',
    (d) => set(at(schema(d, 'EnqueueRequest'), 'properties'), 'team', { type: 'string' }),
  ],
  [
    'a field of a request that is no longer required',
    (d) => set(schema(d, 'EnqueueRequest'), 'required', ['queue', 'payload']),
  ],
  [
    'a larger maximum',
    (d) => set(field(d, 'EnqueueRequest', 'delay_seconds'), 'maximum', 99_999_999),
  ],
  ['no maximum at all', (d) => delete field(d, 'EnqueueRequest', 'queue')['maxLength']],
  ['a pattern that is given up', (d) => delete field(d, 'EnqueueRequest', 'dedup_key')['pattern']],
  [
    'a new value in a request',
    (d) =>
      set(field(d, 'EnqueueRequest', 'priority'), 'enum', [
        'urgent',
        'high',
        'normal',
        'low',
        'idle',
      ]),
  ],
  [
    'null in a request',
    (d) =>
      set(at(schema(d, 'EnqueueRequest'), 'properties'), 'due_at', {
        anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }],
      }),
  ],
  ['other words for people', (d) => set(enqueue(d), 'summary', 'Enqueue')],
  [
    'a schema that moves to another name',
    (d) => {
      set(at(d, 'components', 'schemas'), 'NewJob', schema(d, 'EnqueueRequest'));
      set(at(enqueue(d), 'requestBody', 'content', 'application/json'), 'schema', {
        $ref: '#/components/schemas/NewJob',
      });
    },
  ],
];

describe('S2.9 a change of routes and requests that breaks the contract is named', () => {
  test.each(BREAKING)('%s', (_name, bend, told) => {
    const changes = breakingChanges(GENERATED, bent(bend));
    expect(changes.filter((change) => change.startsWith(told))).not.toEqual([]);
  });
});

describe('S2.9 a change of routes and requests that breaks nothing passes', () => {
  test.each(COMPATIBLE)('%s', (_name, bend) => {
    expect(breakingChanges(GENERATED, bent(bend))).toEqual([]);
  });
});
