import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';

/** One request as it came over the wire. */
export interface WireRequest {
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A service that answers as it is told, for clients of AWS that are pointed at it. */
export interface AwsService {
  readonly endpoint: string;
  readonly requests: readonly WireRequest[];
  /** From now on. `hang` never answers. */
  answer(with_: WireAnswer | 'hang'): void;
  close(): Promise<void>;
}

export async function startAwsService(first: WireAnswer): Promise<AwsService> {
  const requests: WireRequest[] = [];
  let answer: WireAnswer | 'hang' = first;
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      requests.push({ method: request.method ?? '', headers: request.headers, body });
      if (answer === 'hang') return;
      response.writeHead(answer.status, answer.headers).end(answer.body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('no TCP address');
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    requests,
    answer: (next) => {
      answer = next;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** What every client in these tests is given: no look-up of credentials, no retries. */
export const CLIENT_SETTINGS = {
  region: 'eu-central-1',
  credentials: { accessKeyId: 'AKIATEST', secretAccessKey: 'not-a-secret' },
  maxAttempts: 1,
} as const;

async function text(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
