import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';

import { createApp } from '../../../functions/app.ts';
import { runCommandLine } from '../../../infra/cli/program.ts';
import type { Terminal } from '../../../infra/cli/terminal.ts';
import { createClient } from '../../../shared/client/client.ts';
import type { LeaseholdClient } from '../../../shared/client/client.ts';
import { SCOPES } from '../../../shared/scopes.ts';
import { createAppHarness, signToken } from '../../routes/support/app-harness.ts';
import type { AppHarness } from '../../routes/support/app-harness.ts';

/** What one command came to. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Scopes of the token, separated by spaces. Default: all. */
  readonly scope?: string;
  readonly stdin?: string;
  /** What the person answers; without, there is nobody to ask. */
  readonly answer?: string;
  readonly columns?: number;
  readonly colours?: boolean;
  readonly folder?: string;
  readonly signal?: AbortSignal;
  readonly now?: () => number;
  /** Told of every piece of output as it comes. */
  readonly onOut?: (text: string) => void;
}

/** The command line against the real app behind a real socket. */
export interface CliHarness {
  readonly app: AppHarness;
  readonly url: string;
  readonly token: string;
  readonly client: LeaseholdClient;
  /** Every request, as `GET /v1/jobs`. */
  readonly requests: string[];
  /** Questions that were asked. */
  readonly questions: string[];
  /** A terminal whose output nobody reads. */
  terminal(): Terminal;
  run(args: readonly string[], options?: RunOptions): Promise<Ran>;
  /** The same with `--json`, parsed. */
  json<Value>(args: readonly string[], options?: RunOptions): Promise<Value>;
  /** Breaks every connection off, as a network does. */
  cut(): void;
  close(): Promise<void>;
}

export async function createCliHarness(): Promise<CliHarness> {
  const app = await createAppHarness();
  const requests: string[] = [];
  const questions: string[] = [];
  const server = createServer((incoming, outgoing) => {
    requests.push(`${incoming.method} ${incoming.url}`);
    void serve(app, incoming, outgoing);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const token = await signToken(SCOPES.join(' '), { subject: 'cli-tests' });

  const terminalOf = (
    pieces: Readonly<Record<'out' | 'err', string[]>>,
    ownToken: string,
    options: RunOptions,
  ): Terminal => {
    const { answer, stdin = '', columns, colours = false, folder = '.' } = options;
    return {
      out: (text) => {
        pieces.out.push(text);
        options.onOut?.(text);
      },
      err: (text) => void pieces.err.push(text),
      env: { LEASEHOLD_URL: url, LEASEHOLD_TOKEN: ownToken, ...options.env },
      columns,
      colours: { out: colours, err: colours },
      readStdin: async () => new TextEncoder().encode(stdin),
      ask:
        answer === undefined
          ? undefined
          : async (question) => {
              questions.push(question);
              return answer;
            },
      folder,
      now: options.now ?? (() => Date.now()),
      signal: options.signal ?? new AbortController().signal,
    };
  };
  const run: CliHarness['run'] = async (args, options = {}) => {
    const pieces: Record<'out' | 'err', string[]> = { out: [], err: [] };
    const { scope } = options;
    const ownToken = scope === undefined ? token : await signToken(scope);
    const terminal = terminalOf(pieces, ownToken, options);
    const code = await runCommandLine(args, terminal);
    return { code, out: pieces.out.join(''), err: pieces.err.join('') };
  };

  return {
    app,
    url,
    token,
    client: createClient({ baseUrl: url, token }),
    requests,
    questions,
    terminal: () => terminalOf({ out: [], err: [] }, token, {}),
    run,
    json: async <Value>(args: readonly string[], options?: RunOptions) => {
      const { out, err } = await run([...args, '--json'], options);
      if (out === '') throw new Error(err);
      return JSON.parse(out) as Value;
    },
    cut: () => server.closeAllConnections(),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await app.close();
    },
  };
}

async function serve(
  app: AppHarness,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const { method = 'GET', url = '/' } = incoming;
  const body = await buffer(incoming);
  const gone = new AbortController();
  outgoing.on('close', () => gone.abort());
  const request = new Request(new URL(url, 'http://leasehold.test'), {
    method,
    headers: incoming.headers as Record<string, string>,
    signal: gone.signal,
    ...(body.length === 0 ? {} : { body: Uint8Array.from(body) }),
  });
  const response = await createApp(app.deps()).fetch(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) {
    outgoing.end();
    return;
  }
  // A reader that went away is its own affair.
  await pipeline(Readable.fromWeb(response.body as ReadableStream), outgoing).catch(
    () => undefined,
  );
}
