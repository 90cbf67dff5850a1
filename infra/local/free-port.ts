import { createServer } from 'node:net';

/**
 * A TCP port of the loopback interface that nobody listens on at this moment. Another process may take it before the
 * caller does, so a caller that cannot bind it asks again.
 *
 * @example const port = await freePort();
 */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        if (address === null || typeof address === 'string')
          reject(new Error('No port was given.'));
        else resolve(address.port);
      });
    });
  });
}
