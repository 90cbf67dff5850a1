import { z } from 'zod';

import { PRIORITIES } from '../queue/new-job.ts';
import {
  anyJson,
  anyObject,
  bigIntText,
  count,
  instantText,
  openEnum,
  uuidText,
} from './response-parts.ts';

/** An escalated job and a person's hold on it. */
export const heldJobResponse = z.object({
  id: uuidText,
  queue: z.string(),
  type: z.string(),
  payload: anyJson,
  headers: anyObject,
  schema_version: count,
  priority: z.enum(PRIORITIES),
  ordering_key: z.string().nullable(),
  created_at: instantText,
  attempt: count,
  max_attempts: count,
  redrives: count,
  reason: z.string(),
  error: anyJson,
  note: z.string().nullable(),
  escalated_at: instantText,
  fencing_token: bigIntText,
  lease_expires_at: instantText,
  lease_remaining_ms: z.number(),
});

/** What a person took; null when no escalated job was free. */
export const heldClaimResponse = z.object({ claim_id: uuidText, job: heldJobResponse.nullable() });

/** What became of an escalated job that a person settled. */
export const settledEscalationResponse = z.object({
  outcome: openEnum(['succeeded', 'pending', 'cancelled', 'escalated']),
  due_at: instantText.optional(),
});

export type HeldClaimResponse = z.infer<typeof heldClaimResponse>;
export type HeldJobResponse = z.infer<typeof heldJobResponse>;
export type SettledEscalationResponse = z.infer<typeof settledEscalationResponse>;
