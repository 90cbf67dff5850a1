import { LeaseholdError } from '../errors.ts';
import type { DatabaseFailure } from './database-failure.ts';

/** SQLSTATE of our own routines: an argument breaks a rule; the message is `field: rule`. */
const INVALID_ARGUMENT = 'LH001';
/** SQLSTATE of our own routines: the id belongs to another job; the message is `field: rule` too. */
const JOB_ID_CONFLICT = 'LH002';
/** No such schema, function or table: migrations did not run, or ran for another version. */
const SCHEMA_MISSING: readonly string[] = ['3F000', '42883', '42P01'];

const KNOWN_REFUSALS: ReadonlyMap<string, string> = new Map([
  ['28000', 'The database refused the user.'],
  ['28P01', 'The database refused the user or the password.'],
  ['3D000', 'The server has no database of this name.'],
  ['42501', 'The database user lacks a privilege.'],
  ['57014', 'The database cancelled the statement, by a timeout or on request.'],
]);

/**
 * A failure that another try would repeat, as the error that callers see. Its message is ours, except for the rule
 * that our own routine names; what Postgres said is on the cause, since it may quote values.
 */
export function sqlError(failure: DatabaseFailure): LeaseholdError {
  const { sqlState } = failure;
  const details = { cause: failure, ...(sqlState === undefined ? {} : { sqlState }) };
  if (sqlState === INVALID_ARGUMENT || sqlState === JOB_ID_CONFLICT) {
    const [, path = '$', message = failure.message] =
      /^([\w.[\]]+): (.+)$/s.exec(failure.message) ?? [];
    const code = sqlState === INVALID_ARGUMENT ? 'invalid_request' : 'job_id_conflict';
    return new LeaseholdError(code, failure.message, { ...details, problems: [{ path, message }] });
  }
  if (sqlState !== undefined && SCHEMA_MISSING.includes(sqlState)) {
    const message = 'The database schema is missing or of another version: run npm run migrate.';
    return new LeaseholdError('schema_mismatch', message, details);
  }
  return new LeaseholdError('database_error', refusal(failure), details);
}

function refusal({ sqlState, httpStatus }: DatabaseFailure): string {
  if (sqlState !== undefined) {
    const known = KNOWN_REFUSALS.get(sqlState) ?? 'The database refused the statement.';
    return `${known.slice(0, -1)} (SQLSTATE ${sqlState}).`;
  }
  if (httpStatus === 413)
    return 'The statement and its values are too large for the database endpoint.';
  return `The database endpoint refused the request (HTTP status ${httpStatus ?? 'unknown'}).`;
}
