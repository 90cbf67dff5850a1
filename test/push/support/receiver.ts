import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { fileURLToPath } from 'node:url';

export interface ReceiverAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Never answers. */
  readonly hang?: boolean;
  /** Answers after this time. */
  readonly delayMs?: number;
}

/** One request as it came over the wire. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The raw bytes, base64. */
  readonly body: string;
  /** What `standardwebhooks` said, one a key: `verified`, or why not. */
  readonly verdicts: readonly string[];
  readonly at: number;
}

export type ReceiverMessage =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'answering' }
  | { readonly kind: 'received'; readonly received: Received };

/** A receiver in another process, on loopback. The path `/hang` never answers. */
export interface Receiver {
  readonly port: number;
  url(path: string): string;
  readonly received: Received[];
  /** Resolves once every request from now on gets this answer. */
  answer(answer: ReceiverAnswer): Promise<void>;
  close(): Promise<void>;
}

/** @param keys what it verifies with; a verdict for each */
export async function startReceiver(keys: readonly string[]): Promise<Receiver> {
  const file = fileURLToPath(new URL('./receiver-process.ts', import.meta.url));
  const child = fork(file, keys, { execArgv: ['--experimental-strip-types', '--no-warnings'] });
  const received: Received[] = [];
  const waiting: (() => void)[] = [];
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', () => reject(new Error('The receiver ended.')));
    child.on('message', (message: ReceiverMessage) => {
      switch (message.kind) {
        case 'listening':
          return resolve(message.port);
        case 'answering':
          return waiting.shift()?.();
        case 'received':
          received.push(message.received);
          return undefined;
      }
    });
  });
  return {
    port,
    received,
    url: (path) => `http://127.0.0.1:${port}${path}`,
    answer: (answer) =>
      new Promise((resolve) => {
        waiting.push(resolve);
        child.send(answer);
      }),
    close: async () => {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}
