/** Stable, public codes of everything this project throws or answers with. `docs/errors.md` lists the remedies. */
export const ERROR_CODES = [
  'invalid_json',
  'invalid_request',
  'body_too_large',
  'unsupported_media_type',
  'unauthenticated',
  'forbidden',
  'csrf_refused',
  'not_found',
  'method_not_allowed',
  'job_id_conflict',
  'event_id_conflict',
  'version_conflict',
  'lease_lost',
  'job_not_pending',
  'job_ended',
  'job_running',
  'count_mismatch',
  'dedup_key_taken',
  'idempotency_key_in_flight',
  'idempotency_key_reused',
  'rate_limited',
  'bad_signature',
  'sign_in_unavailable',
  'feed_full',
  'database_unavailable',
  'database_error',
  'schema_mismatch',
  'config_invalid',
  'internal_error',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** One thing wrong with a request, named by its place. */
export interface FieldProblem {
  /** JSON path of the fault, e.g. `payload.items[2].name`; `$` is the whole body. */
  readonly path: string;
  readonly message: string;
}

export interface LeaseholdErrorOptions {
  readonly cause?: unknown;
  /** Field by field, when the fault lies in the input. */
  readonly problems?: readonly FieldProblem[];
  /** Seconds after which the same call may succeed. */
  readonly retryAfterSeconds?: number;
  /** SQLSTATE, when Postgres gave one. */
  readonly sqlState?: string;
  /** Numbers and words that a program needs to go on; each becomes a member of the problem document. */
  readonly facts?: ErrorFacts;
}

export type ErrorFacts = Readonly<Record<string, string | number | boolean | null>>;

/**
 * The one base class. `message` is safe to show and to log: it never holds a secret, a payload or a connection string.
 *
 * @example throw new LeaseholdError('not_found', 'No job has this id.')
 */
export class LeaseholdError extends Error {
  override readonly name = 'LeaseholdError';
  readonly code: ErrorCode;
  readonly problems: readonly FieldProblem[];
  readonly retryAfterSeconds: number | undefined;
  readonly sqlState: string | undefined;
  readonly facts: ErrorFacts;

  constructor(code: ErrorCode, message: string, options: LeaseholdErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.problems = options.problems ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.sqlState = options.sqlState;
    this.facts = options.facts ?? {};
  }
}
