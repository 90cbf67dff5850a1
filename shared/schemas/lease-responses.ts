import { z } from 'zod';

import { leasedJobResponse } from './claim-response.ts';
import { instantText, openEnum } from './response-parts.ts';

/** The lease holds. With `cancel_requested` the holder stops and reports. */
export const heartbeatResponse = z.object({
  outcome: z.literal('held'),
  lease_expires_at: instantText,
  lease_remaining_ms: z.number(),
  cancel_requested: z.boolean(),
});

/** The job has ended; `cancelled` when it had been called off. `next` is there when it was asked for, null if there is none. */
export const completeResponse = z.object({
  outcome: z.enum(['succeeded', 'cancelled']),
  more_due: z.boolean(),
  next: leasedJobResponse.nullable().optional(),
});

/**
 * What became of the job whose attempt failed. `dead` with `escalated`: it is not lost but waits for a person, which a reader
 * that does not know of people takes for dead.
 */
export const failResponse = z.union([
  z.object({ outcome: z.literal('pending'), due_at: instantText, more_due: z.boolean() }),
  z.object({
    outcome: z.enum(['dead', 'cancelled']),
    escalated: z.boolean().optional(),
    more_due: z.boolean(),
  }),
]);

/** The job waits for a person; `cancelled` when it had been called off. */
export const escalateResponse = z.object({
  outcome: openEnum(['escalated', 'cancelled']),
  more_due: z.boolean(),
});

/** What became of a job that was given back or snoozed. */
export const givenBackResponse = z.union([
  z.object({ outcome: z.literal('pending'), due_at: instantText }),
  z.object({ outcome: z.literal('cancelled') }),
]);

export type HeartbeatResponse = z.infer<typeof heartbeatResponse>;
export type CompleteResponse = z.infer<typeof completeResponse>;
export type FailResponse = z.infer<typeof failResponse>;
export type EscalateResponse = z.infer<typeof escalateResponse>;
export type GivenBackResponse = z.infer<typeof givenBackResponse>;
