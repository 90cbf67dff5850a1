import { LeaseholdError } from '../../shared/errors.ts';
import type { ErrorCode, FieldProblem } from '../../shared/errors.ts';
import { HttpFault } from '../http-fault.ts';

interface ProblemKind {
  readonly status: number;
  readonly title: string;
}

/** The one table from error codes to HTTP. Every code is here, or this does not compile. */
export const PROBLEMS: Readonly<Record<ErrorCode, ProblemKind>> = {
  invalid_json: { status: 400, title: 'The body is not JSON that can be stored' },
  invalid_request: { status: 400, title: 'The request breaks a rule' },
  unauthenticated: { status: 401, title: 'A valid bearer token is needed' },
  bad_signature: { status: 401, title: 'The signature does not verify' },
  forbidden: { status: 403, title: 'The token does not allow this' },
  not_found: { status: 404, title: 'There is nothing here' },
  method_not_allowed: { status: 405, title: 'The method is not allowed here' },
  job_id_conflict: { status: 409, title: 'The id belongs to another job' },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The body must be JSON' },
  internal_error: { status: 500, title: 'Something unexpected happened' },
  database_error: { status: 500, title: 'The database refused a statement' },
  config_invalid: { status: 500, title: 'The deployment is not configured' },
  database_unavailable: { status: 503, title: 'The database cannot be reached' },
  schema_mismatch: { status: 503, title: 'Code and database schema do not fit' },
};

/** Every 503 says when to come back, even if the failure did not. */
const DEFAULT_RETRY_AFTER_SECONDS = 5;

/** An RFC 9457 problem document with this project's extension members. */
export interface ProblemDocument {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly problems?: readonly FieldProblem[];
  readonly request_id: string;
}

/**
 * Any thrown value as the answer for the client. Causes, stacks and unexpected messages stay inside: only the message
 * of a `LeaseholdError`, which is safe by definition, goes out.
 */
export function problemResponse(thrown: unknown, requestId: string): Response {
  const error = knownError(thrown);
  const { status, title } = PROBLEMS[error.code];
  const body: ProblemDocument = {
    type: `urn:leasehold:problem:${error.code}`,
    title,
    status,
    detail: detailOf(error),
    code: error.code,
    ...(error.problems.length === 0 || hidesDetail(error) ? {} : { problems: error.problems }),
    request_id: requestId,
  };
  const headers = new Headers(error instanceof HttpFault ? error.headers : {});
  headers.set('content-type', 'application/problem+json');
  if (status === 503) {
    headers.set('retry-after', String(error.retryAfterSeconds ?? DEFAULT_RETRY_AFTER_SECONDS));
  }
  return new Response(JSON.stringify(body), { status, headers });
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
