import type { Transaction } from './statement.ts';

/** What is called of the `trx` that `db.transaction().execute` of Kysely hands to its callback. */
export interface KyselyTransaction<Query> {
  /** `true` in the type of a transaction alone. */
  readonly isTransaction: true;
  /** Plugins would rename the columns. */
  withoutPlugins(): { executeQuery(query: Query): PromiseLike<{ readonly rows: unknown[] }> };
}

/** `CompiledQuery` of `kysely`. */
export interface KyselyCompiledQuery<Query> {
  raw(text: string, values: unknown[]): Query;
}

/**
 * For Kysely.
 *
 * @param trx what `db.transaction().execute` hands to its callback, or a controlled transaction
 * @param compiled `CompiledQuery`, from `kysely`
 * @example await db.transaction().execute((trx) => enqueueIn(kyselyTransaction(trx, CompiledQuery), [job], { actor: 'shop' }));
 */
export function kyselyTransaction<Query>(
  trx: KyselyTransaction<Query>,
  compiled: KyselyCompiledQuery<Query>,
): Transaction {
  return {
    run: ({ text, values }) => trx.withoutPlugins().executeQuery(compiled.raw(text, [...values])),
  };
}
