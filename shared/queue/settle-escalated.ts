import type { JsonValue } from '../json-value.ts';
import type { Sql, SqlOptions } from '../ports.ts';
import type { Lease } from './lease.ts';

/** What a person decides about the escalated job that they hold. */
export type Decision =
  /** They did the work. */
  | {
      readonly action: 'complete';
      readonly result?: JsonValue;
      /** Why the result is not there, when it could not be stored. */
      readonly resultProblem?: string;
      /** For the log, up to 4,000 characters. */
      readonly note?: string;
    }
  /** Back to its queue with fresh budgets; the next holders get the note, 1 to 4,000 characters. */
  | { readonly action: 'send_back'; readonly note: string }
  /** Given up, for this reason of 1 to 1,000 characters. */
  | { readonly action: 'discard'; readonly reason: string }
  /** The hold ends, and the job goes on waiting for a person. */
  | { readonly action: 'release' };

export type SettleEscalatedInput = Lease & Decision;

export type SettleEscalatedOutcome =
  | { readonly outcome: 'succeeded' | 'cancelled' | 'escalated' }
  | { readonly outcome: 'pending'; readonly dueAt: Date }
  /** It could not be sent back, as another live job has its dedup key; the hold goes on. */
  | { readonly outcome: 'dedup_key_taken'; readonly clash: string }
  | { readonly outcome: 'lease_lost' };

/**
 * Carries out what a person decides about the escalated job that they hold. Repeated after a lost answer it gives the first
 * answer again.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field.
 * @example await settleEscalated(sql, { jobId, owner, fencingToken, action: 'send_back', note: 'Use the invoice address.' });
 */
export async function settleEscalated(
  sql: Sql,
  input: SettleEscalatedInput,
  options?: SqlOptions,
): Promise<SettleEscalatedOutcome> {
  const completes = input.action === 'complete';
  const [row] = await sql.query<SettledRow>(
    'select * from leasehold.settle_escalated($1::uuid, $2::text, $3::bigint, $4::text, $5::text, $6::jsonb, $7::text)',
    [
      input.jobId,
      input.owner,
      input.fencingToken,
      input.action,
      textOf(input),
      completes && input.result !== undefined ? JSON.stringify(input.result) : null,
      completes ? (input.resultProblem ?? null) : null,
    ],
    options,
  );
  if (row === undefined) return { outcome: 'lease_lost' };
  switch (row.outcome) {
    case 'pending':
      return { outcome: 'pending', dueAt: row.due_at };
    case 'dedup_key_taken':
      return { outcome: 'dedup_key_taken', clash: row.clash };
    case 'succeeded':
    case 'cancelled':
    case 'escalated':
    case 'lease_lost':
      return { outcome: row.outcome };
  }
}

function textOf(decision: Decision): string | null {
  switch (decision.action) {
    case 'discard':
      return decision.reason;
    case 'release':
      return null;
    case 'complete':
    case 'send_back':
      return decision.note ?? null;
  }
}

type SettledRow =
  | { outcome: 'pending'; due_at: Date; clash: null }
  | { outcome: 'dedup_key_taken'; due_at: null; clash: string }
  | { outcome: 'succeeded' | 'cancelled' | 'escalated' | 'lease_lost'; due_at: null; clash: null };
