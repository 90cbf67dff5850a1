/** The bounds of the Neon proxy, from its source defaults, and those of this process. */

/** Of one request body, in bytes; over it the answer is 413. */
export const MAX_REQUEST_BYTES = 10 * 1024 * 1024;
/** Of one response's rows as JSON text, in bytes; over it the answer is 507. */
export const MAX_RESPONSE_BYTES = 10 * 1024 * 1024;
/** Connections of one user to one database. The proxy does not cap them; a laptop's Postgres has to. */
export const DEFAULT_POOL_SIZE = 20;
export const IDLE_CONNECTION_MS = 10_000;
/** How long a request waits for a connection before it is answered with 500. */
export const DEFAULT_CONNECTION_WAIT_MS = 10_000;
/** How long a cancelled statement may take to stop before its connection is closed under it. */
export const CANCEL_GRACE_MS = 1_000;
/** Longer than any client keeps an idle socket, so that the client is the one to close it. */
export const KEEP_ALIVE_MS = 75_000;
