import { z } from 'zod';

import {
  MAX_HOLD_SECONDS,
  MAX_NOTE_CHARS,
  MAX_REASON_CHARS,
  MAX_RESULT_BYTES,
  MIN_LEASE_SECONDS,
} from '../limits.ts';
import { stating } from '../parse-with.ts';
import { claimId } from './claim-id.ts';
import { fencingToken } from './fencing-token.ts';
import { integer } from './integer.ts';
import { jobId } from './job-id.ts';
import { jsonWithin } from './json-within.ts';
import { queueName } from './names.ts';
import { text } from './text.ts';

/** A person takes an escalated job: the one they name, or the one that has waited longest. */
export const claimEscalatedRequest = z.strictObject(
  {
    queue: queueName.optional(),
    job_id: jobId.optional(),
    claim_id: claimId.optional(),
    lease_seconds: integer(MIN_LEASE_SECONDS, MAX_HOLD_SECONDS).optional(),
  },
  stating('must be an object; every field is optional'),
);

/** The holder of a lease asks a person. */
export const escalateRequest = z.strictObject(
  { fencing_token: fencingToken, question: text(1, MAX_NOTE_CHARS) },
  stating('must be an object with "fencing_token" and "question"'),
);

/** The person did the work. */
export const completeEscalatedRequest = z.strictObject(
  {
    fencing_token: fencingToken,
    result: jsonWithin(MAX_RESULT_BYTES).optional(),
    note: text(1, MAX_NOTE_CHARS).optional(),
  },
  stating('must be an object with "fencing_token"'),
);

/** Back to its queue, with a note for the next holders. */
export const sendBackRequest = z.strictObject(
  { fencing_token: fencingToken, note: text(1, MAX_NOTE_CHARS) },
  stating('must be an object with "fencing_token" and "note"'),
);

/** Given up. */
export const discardEscalatedRequest = z.strictObject(
  { fencing_token: fencingToken, reason: text(1, MAX_REASON_CHARS) },
  stating('must be an object with "fencing_token" and "reason"'),
);

/** The hold ends, and the job goes on waiting for a person. */
export const releaseEscalatedRequest = z.strictObject(
  { fencing_token: fencingToken },
  stating('must be an object with "fencing_token"'),
);
