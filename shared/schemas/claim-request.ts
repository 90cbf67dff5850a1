import { z } from 'zod';

import {
  MAX_CLAIM_BATCH,
  MAX_LEASE_SECONDS,
  MAX_SECONDS_PER_JOB,
  MAX_WAIT_SECONDS,
  MIN_LEASE_SECONDS,
} from '../limits.ts';
import { stating } from '../parse-with.ts';
import { claimId } from './claim-id.ts';
import { integer, seconds } from './integer.ts';

/** What every claim over HTTP may say. */
export const claimFields = {
  claim_id: claimId.optional(),
  lease_seconds: integer(MIN_LEASE_SECONDS, MAX_LEASE_SECONDS).optional(),
  limit: integer(1, MAX_CLAIM_BATCH).optional(),
  seconds_per_job: integer(1, MAX_SECONDS_PER_JOB).optional(),
  wait: seconds(0, MAX_WAIT_SECONDS).optional(),
};

/** A claim from one queue, which the path names. */
export const claimRequest = z.strictObject(
  claimFields,
  stating('must be an object; every field of a claim is optional'),
);

export type ClaimRequest = z.infer<typeof claimRequest>;
