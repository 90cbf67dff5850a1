import { createServer } from 'node:http';

/** A service that jobs of `http.request` call: it answers as it is told, 200 when it is told nothing. */
export interface Target {
  readonly url: string;
  /** Idempotency keys of the calls, in order. */
  readonly keys: readonly string[];
  /** Statuses of the next answers, in order. */
  readonly next: number[];
  close(): Promise<void>;
}

export async function startTarget(): Promise<Target> {
  const keys: string[] = [];
  const next: number[] = [];
  const server = createServer((request, response) => {
    request.resume();
    keys.push(String(request.headers['idempotency-key']));
    response.writeHead(next.shift() ?? 200).end('answered');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('no TCP address');
  return {
    url: `http://127.0.0.1:${address.port}/`,
    keys,
    next,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
