import type pg from 'pg';

/**
 * What the proxy does before a connection serves the next request, and the role besides: no transaction, cursor, setting,
 * listener, session lock, temporary table or sequence state survives. One simple query, so that a transaction pooler sends all of it to
 * the same server connection, and without `discard all`, which cannot run in such a list and would drop the prepared
 * statements of a pooler. Behind a transaction pooler it cleans *a* server connection, not always the one that ran the
 * request: session state was never to be relied on there.
 */
export const RESET_SESSION = [
  // `begin` first: a rollback with nothing to roll back is a warning in the server's log, once a request.
  'begin',
  'rollback',
  'close all',
  'set session authorization default',
  'reset all',
  'unlisten *',
  'select pg_advisory_unlock_all()',
  'discard temp',
  'discard sequences',
].join('; ');

/** Returns the connection to its pool, clean, or closes it when it is not certain to be clean. */
export async function giveBack(client: pg.PoolClient, reusable: boolean): Promise<void> {
  if (!reusable) {
    client.release(true);
    return;
  }
  try {
    await client.query(RESET_SESSION);
    client.release();
  } catch {
    client.release(true);
  }
}
