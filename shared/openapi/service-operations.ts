import { metricsQuery } from '../schemas/metrics-query.ts';
import type { Operation } from './operation.ts';

const tag = 'Service';

export const SERVICE_OPERATIONS: readonly Operation[] = [
  {
    id: 'health',
    method: 'get',
    path: '/v1/health',
    tag,
    summary: 'The code runs',
    description: 'Never touches the database, so a monitor does not keep it awake.',
    access: 'public',
    database: false,
    success: { 200: { description: 'It runs.', schema: 'Health', example: { status: 'ok' } } },
  },
  {
    id: 'ready',
    method: 'get',
    path: '/v1/ready',
    tag,
    summary: 'Database and code fit',
    description: 'Wakes the database.',
    access: 'read',
    database: true,
    success: { 200: { description: 'They fit.', schema: 'Ready' } },
  },
  {
    id: 'work',
    method: 'post',
    path: '/v1/work',
    tag,
    summary: 'Run a job of a queue now',
    description:
      'A poke, signed per Standard Webhooks or sent with a token: claims a due job and runs or pushes it before it answers; several, one after another, where the deployment says so. With `relay` it publishes events of the outbox instead. A hint that may be lost or come twice.',
    access: { pokeOr: 'work' },
    database: true,
    body: { schema: 'WorkRequest', example: { queue: 'emails', depth: 0 } },
    idempotencyKey: 'ignored',
    success: {
      200: {
        description: 'What came of it.',
        schema: 'WorkOutcome',
        example: { outcome: 'empty', queue: 'emails' },
      },
    },
  },
  {
    id: 'readMetrics',
    method: 'get',
    path: '/metrics',
    tag,
    summary: 'Every measure, for Prometheus',
    description:
      'What was read last, unless something has changed since: asking does not wake a database that sleeps. With `fresh=1` it is read anew. Ages are of this moment.',
    access: 'read',
    database: false,
    query: metricsQuery,
    success: { 200: { description: 'The measures.', mediaType: 'text/plain' } },
    errors: ['database_unavailable', 'database_error', 'schema_mismatch'],
  },
  {
    id: 'openapi',
    method: 'get',
    path: '/openapi.json',
    tag,
    summary: 'This document',
    description: 'OpenAPI 3.1.',
    access: 'public',
    database: false,
    success: { 200: { description: 'The document.', mediaType: 'application/json' } },
  },
  {
    id: 'docs',
    method: 'get',
    path: '/docs',
    tag,
    summary: 'This document as a page',
    description: 'For people.',
    access: 'public',
    database: false,
    success: { 200: { description: 'The page.', mediaType: 'text/html' } },
  },
];
