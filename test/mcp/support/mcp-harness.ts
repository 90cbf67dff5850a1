import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

import { createApp } from '../../../functions/app.ts';
import { SCOPES } from '../../../shared/scopes.ts';
import { createAppHarness, signToken } from '../../routes/support/app-harness.ts';
import type { AppHarness, HarnessOptions } from '../../routes/support/app-harness.ts';
import type { Agent } from './agent.ts';
import { connectAgent } from './connect-agent.ts';
import type { Era } from './connect-agent.ts';

export interface AgentOptions {
  /** Scopes of the token; default: all. */
  readonly scope?: string;
  readonly queues?: readonly string[];
  readonly era?: Era;
}

/** The app behind a real socket, and agents of the SDK that speak to it. */
export interface McpHarness {
  readonly app: AppHarness;
  readonly url: string;
  /** Every request that came in: `POST /mcp`. */
  readonly requests: string[];
  /** Connects an agent; `name` is the subject of its token. */
  agent(name: string, options?: AgentOptions): Promise<Agent>;
  close(): Promise<void>;
}

export async function createMcpHarness(options: HarnessOptions = {}): Promise<McpHarness> {
  const app = await createAppHarness(options);
  const requests: string[] = [];
  const server = createServer(
    (incoming, outgoing) => void serve(app, requests, incoming, outgoing),
  );
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const agents: Agent[] = [];
  return {
    app,
    url,
    requests,
    agent: async (name, { scope = SCOPES.join(' '), queues, era } = {}) => {
      const token = await signToken(scope, { subject: name, queues });
      const agent = await connectAgent(`${url}/mcp`, token, era);
      agents.push(agent);
      return agent;
    },
    close: async () => {
      await Promise.all(agents.map((agent) => agent.close()));
      server.closeAllConnections();
      server.close();
      await app.close();
    },
  };
}

async function serve(
  app: AppHarness,
  requests: string[],
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const { method = 'GET', url = '/' } = incoming;
  requests.push(`${method} ${url}`);
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  const body = await buffer(incoming);
  const request = new Request(new URL(url, `http://${incoming.headers.host}`), {
    method,
    headers: incoming.headers as Record<string, string>,
    signal: gone.signal,
    ...(body.length === 0 ? {} : { body: Uint8Array.from(body) }),
  });
  const response = await createApp(app.deps()).fetch(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(new Uint8Array(await response.arrayBuffer()));
}
