import type { Transaction } from './statement.ts';

/** What is called of the `sql` that `sql.begin` of `postgres` (Postgres.js) hands to its callback. */
export interface PostgresTransactionSql {
  unsafe(text: string, values: (string | null)[]): PromiseLike<readonly unknown[]>;
  /** Only a transaction has it. */
  readonly savepoint: (...parameters: never[]) => unknown;
}

/**
 * For `postgres` (Postgres.js). The statement is never a named one, so that it works behind a transaction pooler; for
 * your own statements set `prepare: false` there.
 *
 * @param tx what `sql.begin` hands to its callback
 * @example await sql.begin((tx) => enqueueIn(postgresTransaction(tx), [job], { actor: 'shop' }));
 */
export function postgresTransaction(tx: PostgresTransactionSql): Transaction {
  return { run: ({ text, values }) => tx.unsafe(text, [...values]) };
}
