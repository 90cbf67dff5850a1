import { LeaseholdError } from '../errors.ts';
import type { Lease } from '../queue/lease.ts';
import { toStorableResult } from '../storable-result.ts';
import { resultRows } from './result-rows.ts';
import type { Statement, Transaction } from './statement.ts';

export interface CompletedJob {
  /** `cancelled`: the job had been called off; the attempt counts as succeeded and its result is kept. */
  readonly outcome: 'succeeded' | 'cancelled';
  /** A hint at further due work in the queue. */
  readonly moreDue: boolean;
}

/**
 * Ends the attempt and the job as succeeded in the handler's own transaction: its writes and the completion commit
 * together or not at all. Make it the last statement; between it and the commit nobody else can get the job.
 *
 * @param result anything JSON; what cannot be stored is left out and stated, since a faulty answer must not undo the work
 * @throws what the driver throws, and the transaction is then aborted: SQLSTATE LH004 when the lease is lost, LH005 when
 * this attempt has succeeded before. `commitOnce` makes values of both.
 * @example await completeIn(pgTransaction(client), lease, { sent: true });
 */
export async function completeIn(
  transaction: Transaction,
  lease: Lease,
  result?: unknown,
): Promise<CompletedJob> {
  return readCompleted(await transaction.run(completeStatement(lease, result)));
}

/**
 * The statement alone, for one batch over HTTP or a library without an adapter. It raises where it cannot complete, so
 * that everything in the same transaction rolls back; give what comes back to `readCompleted`.
 *
 * @example const { text, values } = completeStatement(lease, { sent: true });
 */
export function completeStatement(lease: Lease, result?: unknown): Statement {
  const storable = toStorableResult(result);
  return {
    text: `select ${COLUMNS.join(', ')} from leasehold.complete($1::text::uuid, $2::text, $3::text::bigint, $4::text::jsonb, $5::text, true)`,
    values: [
      lease.jobId,
      lease.owner,
      lease.fencingToken,
      storable.result === undefined ? null : JSON.stringify(storable.result),
      storable.resultProblem ?? null,
    ],
  };
}

/**
 * Reads the answer to `completeStatement`.
 *
 * @param result the driver's rows, or its object with `rows`
 * @throws {LeaseholdError} `database_error` when it is another statement's answer
 */
export function readCompleted(result: unknown): CompletedJob {
  const [row] = resultRows(result, COLUMNS);
  const outcome = row?.text('outcome');
  if (row === undefined || (outcome !== 'succeeded' && outcome !== 'cancelled')) {
    throw new LeaseholdError('database_error', 'The database gave no outcome of the completion.');
  }
  return { outcome, moreDue: row.flag('more_due') };
}

const COLUMNS = ['outcome', 'more_due'];
