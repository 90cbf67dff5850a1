import { connect } from 'node:net';
import { CANCEL_GRACE_MS } from './limits.ts';

export interface Upstream {
  readonly host: string;
  readonly port: number;
}

const CANCEL_REQUEST_CODE = 80_877_102;

/**
 * Asks Postgres to stop what `client` runs now: the protocol's CancelRequest on a connection of its own, which a
 * pooler in between also understands (`pg_cancel_backend` would need a process id that the pooler hides).
 * Resolves when the server has closed that connection, whatever came of it.
 */
export function cancelRunningStatement(client: object, upstream: Upstream): Promise<void> {
  const key = backendKey(client);
  if (key === undefined) return Promise.resolve();
  const message = Buffer.alloc(16);
  message.writeInt32BE(16, 0);
  message.writeInt32BE(CANCEL_REQUEST_CODE, 4);
  message.writeInt32BE(key.processId, 8);
  message.writeInt32BE(key.secretKey, 12);
  return new Promise((resolve) => {
    // The server closes the connection when it is done. Closing it first would make PgBouncer drop the request.
    const socket = connect(upstream.port, upstream.host, () => socket.write(message));
    socket.setTimeout(CANCEL_GRACE_MS, () => socket.destroy());
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
    socket.resume();
  });
}

/** `pg` keeps both numbers on the client, but its types do not say so. */
function backendKey(client: object): { processId: number; secretKey: number } | undefined {
  if (!('processID' in client && 'secretKey' in client)) return undefined;
  const { processID, secretKey } = client;
  if (typeof processID !== 'number' || typeof secretKey !== 'number') return undefined;
  return { processId: processID, secretKey };
}
