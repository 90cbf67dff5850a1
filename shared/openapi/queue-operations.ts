import { blockedKeysQuery } from '../schemas/blocked-keys-query.ts';
import { listQueuesQuery } from '../schemas/list-queues-query.ts';
import { queueName } from '../schemas/names.ts';
import { overviewQuery } from '../schemas/overview-query.ts';
import type { Operation } from './operation.ts';

const tag = 'Queues';
const params = { queue: queueName };

export const QUEUE_OPERATIONS: readonly Operation[] = [
  {
    id: 'readOverview',
    method: 'get',
    path: '/v1/overview',
    tag,
    summary: 'See how the queues fare',
    description:
      'The queue that waits longest first. From bounded reads: counts stop at 1,000, at most 200 queues are told of, and a series covers the last hour or the newest 10,000 events. Each call wakes a database that sleeps. A token for certain queues sees those.',
    access: 'read',
    database: true,
    query: overviewQuery,
    success: { 200: { description: 'The queues.', schema: 'Overview' } },
  },
  {
    id: 'listQueues',
    method: 'get',
    path: '/v1/queues',
    tag,
    summary: 'List queues',
    description: 'By name. A token for certain queues sees those.',
    access: 'read',
    database: true,
    query: listQueuesQuery,
    success: { 200: { description: 'A page of queues.', schema: 'QueuePage' } },
  },
  {
    id: 'getQueue',
    method: 'get',
    path: '/v1/queues/{queue}',
    tag,
    summary: 'Read a queue',
    description: 'Its settings and switches.',
    access: 'read',
    database: true,
    params,
    success: { 200: { description: 'The queue.', schema: 'Queue' } },
    errors: ['not_found'],
  },
  {
    id: 'putQueue',
    method: 'put',
    path: '/v1/queues/{queue}',
    tag,
    summary: 'Make or configure a queue',
    description:
      'What is left out stays as it is; null takes a limit or the target away. Attempt budgets hold for jobs added from now on.',
    access: 'operate',
    database: true,
    params,
    body: {
      schema: 'QueueSettings',
      example: { lease_seconds: 60, max_attempts: 8, concurrency_limit: 20 },
    },
    success: { 200: { description: 'The queue as it is now.', schema: 'Queue' } },
  },
  {
    id: 'pauseQueue',
    method: 'post',
    path: '/v1/queues/{queue}/pause',
    tag,
    summary: 'Pause a queue',
    description:
      'Stops claims. Jobs that run go on. A queue that is not there is made, and paused.',
    access: 'operate',
    database: true,
    params,
    body: { schema: 'PauseRequest', optional: true, example: { reason: 'bank is down' } },
    success: { 200: { description: 'The queue as it is now.', schema: 'SwitchedQueue' } },
  },
  {
    id: 'resumeQueue',
    method: 'post',
    path: '/v1/queues/{queue}/resume',
    tag,
    summary: 'Resume a queue',
    description: 'Lets claims go on and wakes its workers.',
    access: 'operate',
    database: true,
    params,
    body: { schema: 'PauseRequest', optional: true, example: { reason: 'bank is back' } },
    success: { 200: { description: 'The queue as it is now.', schema: 'SwitchedQueue' } },
  },
  {
    id: 'listBlockedKeys',
    method: 'get',
    path: '/v1/queues/{queue}/blocked-keys',
    tag,
    summary: 'See what blocks ordering keys',
    description: 'Ordering keys with jobs that wait, and the job in front of each.',
    access: 'read',
    database: true,
    params,
    query: blockedKeysQuery,
    success: { 200: { description: 'A page of keys.', schema: 'BlockedKeys' } },
  },
];
