import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** An HTTP server on a free port of the loopback interface, for what is somebody else's in a test. */
export interface LoopbackServer {
  readonly port: number;
  url(path: string): string;
  /** Answers requests from now on. */
  serve(answer: (request: IncomingMessage, response: ServerResponse) => void): void;
  /** Ends it with every connection. */
  close(): Promise<void>;
}

/**
 * @example
 * const server = await startLoopbackServer();
 * server.serve((request, response) => response.end('done'));
 */
export async function startLoopbackServer(): Promise<LoopbackServer> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('no TCP address');
  const { port } = address;
  return {
    port,
    url: (path) => `http://127.0.0.1:${port}${path}`,
    serve: (answer) => void server.on('request', answer),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
