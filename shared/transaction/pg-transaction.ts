import type { Transaction } from './statement.ts';

/** What is called of a `Client` of `pg`, or of the `Client` of Neon's driver over a WebSocket. */
export interface PgClient {
  query(text: string, values: (string | null)[]): PromiseLike<{ readonly rows: unknown[] }>;
  /** Only a pool has it, and a pool would run the statement on another connection, outside the transaction. */
  readonly totalCount?: never;
}

/**
 * For `pg`, and for the `Client` of `@neondatabase/serverless`.
 *
 * @param client the one on which `begin` was sent
 * @example
 * const client = await pool.connect();
 * await client.query('begin');
 * await enqueueIn(pgTransaction(client), [job], { actor: 'shop' });
 * await client.query('commit');
 */
export function pgTransaction(client: PgClient): Transaction {
  return { run: ({ text, values }) => client.query(text, [...values]) };
}
