import type { JsonObject } from '../json-value.ts';
import type { Sql, SqlOptions } from '../ports.ts';
import type { FailureClass } from './failure-class.ts';
import type { Lease } from './lease.ts';

/** Bounded diagnostics of a failed attempt: plain JSON, no secrets, no payload. */
export type AttemptError = JsonObject & {
  /** Stable snake_case code. */
  code: string;
  message: string;
};

export interface FailInput extends Lease {
  readonly error: AttemptError;
  readonly failureClass: FailureClass;
  /** What the other side asked for, in milliseconds; honoured up to the queue's longest backoff. */
  readonly retryAfterMs?: number;
}

export type FailOutcome =
  | { readonly outcome: 'pending'; readonly dueAt: Date; readonly moreDue: boolean }
  /** `escalated`: a person is asked. `cancelled`: the job had been called off. */
  | { readonly outcome: 'dead' | 'escalated' | 'cancelled'; readonly moreDue: boolean }
  | { readonly outcome: 'lease_lost' };

/**
 * Ends the attempt as failed: the job is retried with full jitter, is dead, or goes to a person. A lost lease changes nothing.
 * Repeated after a lost answer it gives the first answer again.
 *
 * @example await fail(sql, { jobId, owner, fencingToken, error: { code: 'timeout', message: 'No answer.' }, failureClass: 'transient' });
 */
export async function fail(sql: Sql, input: FailInput, options?: SqlOptions): Promise<FailOutcome> {
  const [row] = await sql.query<FailRow>(
    'select * from leasehold.fail($1::uuid, $2::text, $3::bigint, $4::jsonb, $5::text, $6::bigint)',
    [
      input.jobId,
      input.owner,
      input.fencingToken,
      JSON.stringify(input.error),
      input.failureClass,
      input.retryAfterMs ?? null,
    ],
    options,
  );
  if (row === undefined || row.outcome === 'lease_lost') return { outcome: 'lease_lost' };
  return row.outcome === 'pending'
    ? { outcome: 'pending', dueAt: row.due_at, moreDue: row.more_due }
    : { outcome: row.outcome, moreDue: row.more_due };
}

type FailRow =
  | { outcome: 'pending'; due_at: Date; more_due: boolean }
  | { outcome: 'dead' | 'escalated' | 'cancelled' | 'lease_lost'; due_at: null; more_due: boolean };
