import type { Transaction } from './statement.ts';

/** What is called of the `tx` that `db.transaction` of Drizzle (any of its Postgres drivers) hands to its callback. */
export interface DrizzleTransaction<Query> {
  execute(query: Query): PromiseLike<unknown>;
  /** Only a transaction has it. */
  readonly rollback: () => unknown;
}

/** The `sql` tag of `drizzle-orm`. */
export type DrizzleSql<Query> = (strings: TemplateStringsArray, ...values: unknown[]) => Query;

/**
 * For Drizzle.
 *
 * @param tx what `db.transaction` hands to its callback
 * @param sql the tag, from `drizzle-orm`: its queries must come from your copy of the library
 * @example await db.transaction((tx) => enqueueIn(drizzleTransaction(tx, sql), [job], { actor: 'shop' }));
 */
export function drizzleTransaction<Query>(
  tx: DrizzleTransaction<Query>,
  sql: DrizzleSql<Query>,
): Transaction {
  return { run: ({ text, values }) => tx.execute(sql(textBetweenValues(text), ...values)) };
}

/** The tag numbers the values itself. Each `$n` stands once and in order, so the pieces between them are the template. */
function textBetweenValues(text: string): TemplateStringsArray {
  const pieces = text.split(/\$\d+/);
  return Object.assign(pieces, { raw: pieces });
}
