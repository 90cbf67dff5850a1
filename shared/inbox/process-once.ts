import { errorWithState } from '../transaction/sql-state.ts';
import type { Statement, Transaction } from '../transaction/statement.ts';
import { acceptIn, acceptStatement, type NotApplied } from './accept-event.ts';
import type { Receipt } from './receipt.ts';

/** SQLSTATE of `leasehold.accept_event` with `p_raise`; its message begins with the outcome. */
const NOT_APPLIED = 'LH006';

export type ProcessOutcome<Value> =
  { readonly outcome: 'applied'; readonly value: Value } | NotApplied;

/**
 * Applies an event once, where a transaction is one batch: the record of the event is its first statement and the effects
 * are the others, in one round trip. A duplicate raises there, so the effects are rolled back and this gives `duplicate`:
 * a no-op. Acknowledge the delivery when it resolves, whatever the outcome but `gap`.
 *
 * @param batch runs the given statement first, then the effects, in one transaction; resolves after the commit
 * @param options.counting where duplicates are counted: a connection for one statement of its own, after the rollback
 * @throws whatever else the batch rejects with. Do not acknowledge then; delivered again, or called again after a lost
 * answer, it is safe
 * @example
 * await processOnce({ consumer: 'inventory', event, policy: 'apply-newer-only' }, (accept) =>
 *   sql.transaction([neonQuery(sql, accept), sql`update stock set reserved = reserved + ${quantity} where sku = ${sku}`]),
 * );
 */
export async function processOnce<Value>(
  receipt: Receipt,
  batch: (accept: Statement) => PromiseLike<Value>,
  { counting }: { readonly counting?: Transaction } = {},
): Promise<ProcessOutcome<Value>> {
  try {
    return {
      outcome: 'applied',
      value: await batch(acceptStatement(receipt, { raise: true })),
    };
  } catch (thrown) {
    const answer = notApplied(thrown);
    if (answer === undefined) throw thrown;
    if (answer.outcome === 'duplicate' && counting !== undefined) {
      await acceptIn(counting, receipt);
    }
    return answer;
  }
}

/**
 * Applies an event once in the caller's own transaction, which can look at the answer: the effects run if the inbox accepts
 * the event, and are committed with its record or not at all. Acknowledge the delivery after the commit, not before.
 *
 * @param effects whatever they throw, throw it on: the transaction must roll back, and the event comes again
 * @example
 * const end = await db.transaction((tx) =>
 *   processOnceIn(drizzleTransaction(tx, sql), { consumer: 'inventory', event, policy: 'strict' }, () =>
 *     tx.update(stock).set({ reserved: quantity }).where(eq(stock.sku, sku)),
 *   ),
 * );
 * message.ack();
 */
export async function processOnceIn<Value>(
  transaction: Transaction,
  receipt: Receipt,
  effects: () => PromiseLike<Value> | Value,
): Promise<ProcessOutcome<Value>> {
  const answer = await acceptIn(transaction, receipt);
  return answer.outcome === 'accepted' ? { outcome: 'applied', value: await effects() } : answer;
}

function notApplied(thrown: unknown): NotApplied | undefined {
  const error = errorWithState(thrown, NOT_APPLIED);
  if (error === undefined) return undefined;
  const [, outcome, version] =
    /\b(duplicate|stale|gap)\b(?:: version (\d+))?/.exec(messageOf(error)) ?? [];
  if (outcome === 'duplicate' || outcome === 'stale') return { outcome };
  return outcome === 'gap' ? { outcome, expectedVersion: Number(version) } : undefined;
}

/** Prisma keeps the message of Postgres under a name of its own. */
function messageOf(error: object): string {
  return ['message', 'originalMessage']
    .map((name): unknown => Reflect.get(error, name))
    .filter((text) => typeof text === 'string')
    .join(' ');
}
