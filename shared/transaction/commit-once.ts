import { errorWithState } from './sql-state.ts';

/** SQLSTATEs of `leasehold.complete` with `p_raise`. */
const LEASE_LOST = 'LH004';
const ALREADY_COMPLETED = 'LH005';

export type CommitOutcome<Value> =
  | { readonly outcome: 'committed'; readonly value: Value }
  /** This attempt committed before, with its writes; those of this try were rolled back. */
  | { readonly outcome: 'already_committed' }
  /** Another attempt may hold the job; the writes of this one were rolled back. Stop working. */
  | { readonly outcome: 'lease_lost' };

/**
 * Runs a transaction that ends with `completeIn` or `completeStatement`, and turns the two refusals into values. Whether
 * it is called once, again after a lost answer, or by a worker that lost its lease: its writes are in the database once.
 *
 * @param transaction resolves when it is committed, rejects when it is rolled back or when nobody knows
 * @throws whatever else it rejects with. When the answer to the commit was lost, calling again is safe.
 * @example
 * const end = await commitOnce(() =>
 *   db.transaction(async (tx) => {
 *     await tx.insert(receipts).values({ orderId });
 *     return completeIn(drizzleTransaction(tx, sql), lease);
 *   }),
 * );
 */
export async function commitOnce<Value>(
  transaction: () => PromiseLike<Value>,
): Promise<CommitOutcome<Value>> {
  try {
    return { outcome: 'committed', value: await transaction() };
  } catch (error) {
    if (errorWithState(error, ALREADY_COMPLETED)) return { outcome: 'already_committed' };
    if (errorWithState(error, LEASE_LOST)) return { outcome: 'lease_lost' };
    throw error;
  }
}
