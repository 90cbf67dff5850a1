import type { Statement } from './statement.ts';

/** What is called of the function that `neon()` of `@neondatabase/serverless` gives. */
export interface NeonHttp<Query> {
  query(text: string, values: (string | null)[]): Query;
}

/**
 * For Neon over HTTP, where a transaction is one batch: makes a query for `sql.transaction([…])`. Read its result with
 * `readEnqueued` or `readCompleted`.
 *
 * @example
 * const [, added] = await sql.transaction([
 *   sql`insert into orders (id) values (${orderId})`,
 *   neonQuery(sql, enqueueStatement([job], { actor: 'shop' })),
 * ]);
 * pokes.add(readEnqueued(added));
 */
export function neonQuery<Query>(sql: NeonHttp<Query>, { text, values }: Statement): Query {
  return sql.query(text, [...values]);
}
