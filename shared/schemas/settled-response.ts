import { z } from 'zod';

import { count, openEnum, uuidText } from './response-parts.ts';

/** What became of each dead job that the request named; `clash` is the live job that has the dedup key. */
export const settledResponse = z.object({
  settled: count,
  jobs: z.array(
    z.object({
      id: uuidText,
      outcome: openEnum(['redriven', 'discarded', 'dedup_key_taken', 'not_dead']),
      clash: uuidText.optional(),
    }),
  ),
});

/** What a bulk form would settle; nothing has changed. */
export const dryRunResponse = z.object({
  dry_run: z.literal(true),
  count,
  more: z.boolean(),
  sample: z.array(uuidText),
});

/** A bulk form answers with what it did, or would do. */
export const matchingResponse = z.union([dryRunResponse, settledResponse]);

/** A person's word on an effect is recorded. */
export const settledEffectResponse = z.object({
  job_id: uuidText,
  key: z.string(),
  state: z.enum(['done', 'not_done']),
});

export type SettledResponse = z.infer<typeof settledResponse>;
export type DryRunResponse = z.infer<typeof dryRunResponse>;
