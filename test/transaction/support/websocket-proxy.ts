import { once } from 'node:events';
import net from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';

export interface WebSocketProxy {
  /** For `neonConfig.wsProxy`: `127.0.0.1:<port>`. */
  readonly address: string;
  /** Lets the connections end in order. */
  close(): Promise<void>;
}

/**
 * Carries the bytes of a WebSocket to a Postgres and back, as Neon's proxy does for its driver: one connection each.
 */
export async function startWebSocketProxy(upstream: {
  readonly host: string;
  readonly port: number;
}): Promise<WebSocketProxy> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  const open = new Set<Promise<unknown>>();
  await once(server, 'listening');
  server.on('connection', (socket) => {
    const closed = once(socket, 'close').finally(() => open.delete(closed));
    open.add(closed);
    join(socket, net.connect(upstream));
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('no TCP address');
  return {
    address: `127.0.0.1:${address.port}`,
    close: async () => {
      for (const socket of server.clients) socket.close();
      await Promise.all(open);
      server.close();
      await once(server, 'close');
    },
  };
}

function join(socket: WebSocket, connection: net.Socket): void {
  socket.on('message', (bytes: Buffer) => void connection.write(bytes));
  socket.on('close', () => connection.destroy());
  socket.on('error', () => connection.destroy());
  connection.on('data', (bytes) => socket.send(bytes));
  connection.on('close', () => socket.close());
  connection.on('error', () => socket.terminate());
}
