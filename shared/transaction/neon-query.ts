import type { Statement } from './statement.ts';

/** What is called of the function that `neon()` of `@neondatabase/serverless` gives. */
export interface NeonHttp<Query> {
  query(text: string, values: (string | null)[]): unknown;
  /** Not called here: it tells which queries go into its batch. */
  transaction(queries: Query[]): unknown;
}

/**
 * For Neon over HTTP, where a transaction is one batch: makes a query for `sql.transaction([…])`. Read its result with
 * `readEnqueued` or `readCompleted`.
 *
 * @param sql what `neon()` gave, with any settings
 * @example
 * const [, added] = await sql.transaction([
 *   sql`insert into orders (id) values (${orderId})`,
 *   neonQuery(sql, enqueueStatement([job], { actor: 'shop' })),
 * ]);
 * pokes.add(readEnqueued(added));
 */
export function neonQuery<Query>(sql: NeonHttp<Query>, { text, values }: Statement): Query {
  return sql.query(text, [...values]) as Query; // its type does not follow the settings, that of `transaction` does
}
