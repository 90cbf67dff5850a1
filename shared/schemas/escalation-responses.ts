import { z } from 'zod';

import { anyJson, instantText, openEnum, uuidText } from './response-parts.ts';
import { takenJobResponse } from './taken-job-response.ts';

/** An escalated job and a person's hold on it. */
export const heldJobResponse = takenJobResponse.extend({
  reason: z.string(),
  error: anyJson,
  escalated_at: instantText,
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
