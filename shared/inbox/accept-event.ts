import { LeaseholdError } from '../errors.ts';
import { resultRows } from '../transaction/result-rows.ts';
import type { Statement, Transaction } from '../transaction/statement.ts';
import type { Receipt } from './receipt.ts';

/** What the inbox says of an event that is not to be applied now. */
export type NotApplied =
  /** It was applied, or passed over, before. Acknowledge it. */
  | { readonly outcome: 'duplicate' }
  /** A newer version was applied. Acknowledge it. */
  | { readonly outcome: 'stale' }
  /** Policy `strict`: this version is missing before it. Nothing is recorded; park the event or refuse the delivery. */
  | { readonly outcome: 'gap'; readonly expectedVersion: number };

export type AcceptOutcome = { readonly outcome: 'accepted' } | NotApplied;

/**
 * Records an event in the caller's own transaction and says whether to apply it. Two deliveries at once wait for each
 * other here. `processOnceIn` is this and the effects.
 *
 * @throws what the driver throws, and the transaction is then aborted; its SQLSTATE is LH001 when a rule is broken, such as
 * an id of more than 200 characters
 */
export async function acceptIn(transaction: Transaction, receipt: Receipt): Promise<AcceptOutcome> {
  return readAccepted(await transaction.run(acceptStatement(receipt)));
}

/**
 * The statement alone. Make it the first of its transaction.
 *
 * @param options.raise where nobody can look at the answer before the next statement, as in one batch over HTTP: anything
 * but `accepted` raises SQLSTATE LH006, and everything in the transaction rolls back
 */
export function acceptStatement(
  { consumer, event, policy = 'any', sender = '' }: Receipt,
  { raise = false }: { readonly raise?: boolean } = {},
): Statement {
  return {
    text: `select outcome, coalesce(expected_version, 0) as expected_version from leasehold.accept_event($1::text, $2::text, $3::text, $4::text, $5::text::bigint, $6::text, $7::text::boolean, $8::text)`,
    values: [
      consumer,
      event.id,
      event.aggregateType ?? null,
      event.aggregateId ?? null,
      event.version === undefined ? null : String(event.version),
      policy,
      String(raise),
      sender,
    ],
  };
}

/**
 * Reads the answer to `acceptStatement`.
 *
 * @param result the driver's rows, or its object with `rows`
 * @throws {LeaseholdError} `database_error` when it is another statement's answer
 */
export function readAccepted(result: unknown): AcceptOutcome {
  const [row] = resultRows(result, ['outcome', 'expected_version']);
  const outcome = row?.text('outcome');
  if (outcome === 'accepted' || outcome === 'duplicate' || outcome === 'stale') return { outcome };
  if (row === undefined || outcome !== 'gap') {
    throw new LeaseholdError('database_error', 'The database gave no outcome of the inbox.');
  }
  return { outcome, expectedVersion: row.integer('expected_version') };
}
