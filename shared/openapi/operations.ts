import { DEAD_LETTER_OPERATIONS } from './dead-letter-operations.ts';
import { ESCALATION_OPERATIONS } from './escalation-operations.ts';
import { JOB_OPERATIONS } from './job-operations.ts';
import { LEASE_OPERATIONS } from './lease-operations.ts';
import { LOG_OPERATIONS } from './log-operations.ts';
import type { Operation } from './operation.ts';
import { OUTBOX_OPERATIONS } from './outbox-operations.ts';
import { QUEUE_OPERATIONS } from './queue-operations.ts';
import { SCHEDULE_OPERATIONS } from './schedule-operations.ts';
import { SERVICE_OPERATIONS } from './service-operations.ts';

/** Every operation of the API, in the order in which a newcomer meets them. */
export const OPERATIONS: readonly Operation[] = [
  ...JOB_OPERATIONS,
  ...LEASE_OPERATIONS,
  ...QUEUE_OPERATIONS,
  ...DEAD_LETTER_OPERATIONS,
  ...ESCALATION_OPERATIONS,
  ...LOG_OPERATIONS,
  ...SCHEDULE_OPERATIONS,
  ...OUTBOX_OPERATIONS,
  ...SERVICE_OPERATIONS,
];
