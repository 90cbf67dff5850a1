import { LeaseholdError } from '../../shared/errors.ts';
import type { ErrorCode, FieldProblem } from '../../shared/errors.ts';
import { HttpFault } from '../http-fault.ts';

interface ProblemKind {
  readonly status: number;
  readonly title: string;
  /** What the caller, or whoever runs this, does about it. */
  readonly remedy: string;
}

/** The one table from error codes to HTTP. Every code is here, or this does not compile. */
export const PROBLEMS: Readonly<Record<ErrorCode, ProblemKind>> = {
  invalid_json: {
    status: 400,
    title: 'The body is not JSON that can be stored',
    remedy: 'Repair the place that "problems" names; send large numbers as strings.',
  },
  invalid_request: {
    status: 400,
    title: 'The request breaks a rule',
    remedy: 'Read the rule in "problems".',
  },
  unauthenticated: {
    status: 401,
    title: 'A valid bearer token is needed',
    remedy: 'Get a fresh token and send it as "Authorization: Bearer …".',
  },
  bad_signature: {
    status: 401,
    title: 'The signature does not verify',
    remedy: 'Check POKE_SECRETS and the clock of the sender.',
  },
  forbidden: {
    status: 403,
    title: 'The token does not allow this',
    remedy: 'Use a token with that scope and queue.',
  },
  csrf_refused: {
    status: 403,
    title: 'The call may come from another site',
    remedy:
      'Send it from a page of this origin, with "x-csrf-token" as the cookie leasehold_csrf says; programs send a bearer token.',
  },
  not_found: {
    status: 404,
    title: 'There is nothing here',
    remedy: 'Check the path and the id, and the queues that the token is limited to.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The method is not allowed here',
    remedy: 'Use a method that Allow lists.',
  },
  job_id_conflict: {
    status: 409,
    title: 'The id belongs to another job',
    remedy: 'Give a new job a new id; repeat an enqueue with the very same content.',
  },
  event_id_conflict: {
    status: 409,
    title: 'The id belongs to another event',
    remedy: 'Give a new event a new id; repeat an append with the very same content.',
  },
  version_conflict: {
    status: 409,
    title: 'Another version of the aggregate comes next',
    remedy:
      'If "expected_version" is higher, another writer was first: read the aggregate again. If it is lower, append what is missing.',
  },
  lease_lost: {
    status: 409,
    title: 'The lease is lost',
    remedy: 'Stop the work and report nothing more: the job runs elsewhere or has ended.',
  },
  job_not_pending: {
    status: 409,
    title: 'The job is not pending',
    remedy: 'Only a job that waits can be changed; read its state.',
  },
  job_ended: {
    status: 409,
    title: 'The job has ended',
    remedy: 'Read its state; a dead or escalated job is discarded, not cancelled.',
  },
  job_running: {
    status: 409,
    title: 'An attempt of the job runs',
    remedy: 'Wait until the attempt ends, then settle the effect.',
  },
  count_mismatch: {
    status: 409,
    title: 'The filter fits another number of jobs',
    remedy: 'Look at them with "dry_run", then repeat with the count that you saw.',
  },
  dedup_key_taken: {
    status: 409,
    title: 'Another live job has the dedup key',
    remedy: 'Wait until the job named by "clash" has ended, or settle this one otherwise.',
  },
  idempotency_key_in_flight: {
    status: 409,
    title: 'The first request with this key still runs',
    remedy: 'Repeat the same request after Retry-After.',
  },
  body_too_large: {
    status: 413,
    title: 'The body is too large',
    remedy: 'Send smaller batches; keep payloads small and let them refer to large data.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The body must be JSON',
    remedy: 'Send "Content-Type: application/json", in UTF-8 and not compressed.',
  },
  idempotency_key_reused: {
    status: 422,
    title: 'The key was used for another request',
    remedy: 'Give a new request a new key; repeat one with the very same body.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    remedy: 'Repeat after Retry-After.',
  },
  internal_error: {
    status: 500,
    title: 'Something unexpected happened',
    remedy: 'Look up request_id in the log, and report it.',
  },
  database_error: {
    status: 500,
    title: 'The database refused a statement',
    remedy: 'Look up request_id in the log, which has the SQLSTATE.',
  },
  config_invalid: {
    status: 500,
    title: 'The deployment is not configured',
    remedy: 'Repair the settings that the log names.',
  },
  sign_in_unavailable: {
    status: 503,
    title: 'The sign-in provider cannot be reached',
    remedy: 'Repeat after Retry-After; check JWKS_URL.',
  },
  feed_full: {
    status: 503,
    title: 'The live feed has no room',
    remedy: 'Come back after Retry-After; what happens meanwhile is in GET /v1/events.',
  },
  database_unavailable: {
    status: 503,
    title: 'The database cannot be reached',
    remedy:
      'Repeat the same request after Retry-After: with the same id or Idempotency-Key it is no second one.',
  },
  schema_mismatch: {
    status: 503,
    title: 'Code and database schema do not fit',
    remedy: 'Run npm run migrate, or deploy the newer code.',
  },
};

/** Every 429 and 503 says when to come back, even if the failure did not. */
const DEFAULT_RETRY_AFTER_SECONDS = 5;

/** An RFC 9457 problem document with this project's extension members, and the facts of the error beside them. */
export interface ProblemDocument {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly remedy: string;
  readonly problems?: readonly FieldProblem[];
  readonly request_id: string;
}

/**
 * Any thrown value as the answer for the client. Causes, stacks and unexpected messages stay inside: only the message
 * of a `LeaseholdError`, which is safe by definition, goes out.
 */
export function problemResponse(thrown: unknown, requestId: string): Response {
  const error = knownError(thrown);
  const body = problemDocument(error, requestId);
  const { status } = body;
  const headers = new Headers(error instanceof HttpFault ? error.headers : {});
  headers.set('content-type', 'application/problem+json');
  if (status === 429 || status === 503 || error.retryAfterSeconds !== undefined) {
    headers.set('retry-after', String(error.retryAfterSeconds ?? DEFAULT_RETRY_AFTER_SECONDS));
  }
  return new Response(JSON.stringify(body), { status, headers });
}

/** The same as a document alone. */
export function problemDocument(error: LeaseholdError, requestId: string): ProblemDocument {
  const { status, title, remedy } = PROBLEMS[error.code];
  return {
    ...error.facts,
    type: `urn:leasehold:problem:${error.code}`,
    title,
    status,
    detail: detailOf(error),
    code: error.code,
    remedy,
    ...(error.problems.length === 0 || hidesDetail(error) ? {} : { problems: error.problems }),
    request_id: requestId,
  };
}

/** What the rest of the code may not know becomes `internal_error`, with a message that says nothing. */
export function knownError(thrown: unknown): LeaseholdError {
  if (thrown instanceof LeaseholdError) return thrown;
  return new LeaseholdError('internal_error', 'The request could not be completed.');
}

/** Which settings are missing is for the log of whoever runs this, not for whoever calls it. */
function hidesDetail(error: LeaseholdError): boolean {
  return error.code === 'config_invalid';
}

function detailOf(error: LeaseholdError): string {
  return hidesDetail(error) ? 'The log names the settings that are wrong.' : error.message;
}
