import { LeaseholdError } from './errors.ts';

/** Whether the database has answered that it cannot do this, and did nothing; anything else leaves open what was done. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof LeaseholdError &&
    (error.code === 'database_error' || error.code === 'invalid_request')
  );
}
