/**
 * A receiver of pushes in a process of its own, which shares no code with the sender: it keeps the raw bytes of each
 * request and checks them with the `standardwebhooks` package. Its parent tells it over IPC what to answer.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

import type { ReceiverAnswer, ReceiverMessage } from './receiver.ts';

const keys = process.argv.slice(2);
let answer: ReceiverAnswer = { status: 200 };

process.on('message', (next: ReceiverAnswer) => {
  answer = next;
  tell({ kind: 'answering' });
});
process.on('disconnect', () => process.exit());

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const raw = Buffer.concat(chunks);
    tell({
      kind: 'received',
      received: {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: raw.toString('base64'),
        verdicts: keys.map((key) => verdict(key, raw, request.headers)),
        at: Date.now(),
      },
    });
    if (request.url === '/hang' || answer.hang === true) return;
    const { status, headers = {}, body = '', delayMs = 0 } = answer;
    const respond = (): void => void response.writeHead(status, headers).end(body);
    if (delayMs > 0) setTimeout(respond, delayMs);
    else respond();
  });
});

server.listen(0, '127.0.0.1', () => {
  tell({ kind: 'listening', port: (server.address() as AddressInfo).port });
});

function verdict(key: string, raw: Buffer, headers: NodeJS.Dict<string | string[]>): string {
  try {
    new Webhook(key).verify(raw, headers as Record<string, string>);
    return 'verified';
  } catch (error) {
    return error instanceof Error ? error.message : 'refused';
  }
}

function tell(message: ReceiverMessage): void {
  process.send?.(message);
}
