import type { Sql, SqlOptions } from '../ports.ts';
import { givenBack, type GiveBackOutcome, type GiveBackRow } from './given-back.ts';
import type { Lease } from './lease.ts';

export interface SnoozeInput extends Lease {
  /** 1 ms to 366 days. */
  readonly delayMs: number;
  /** For people, up to 1,000 characters. */
  readonly reason?: string;
}

/**
 * "Not now": the job waits, and no attempt is spent. Safe to repeat.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field.
 * @example await snooze(sql, { jobId, owner, fencingToken, delayMs: 60_000, reason: 'the shop is closed' });
 */
export async function snooze(
  sql: Sql,
  input: SnoozeInput,
  options?: SqlOptions,
): Promise<GiveBackOutcome> {
  const [row] = await sql.query<GiveBackRow>(
    'select * from leasehold.snooze($1::uuid, $2::text, $3::bigint, $4::bigint, $5::text)',
    [input.jobId, input.owner, input.fencingToken, input.delayMs, input.reason ?? null],
    options,
  );
  return givenBack(row);
}
