import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

import { Agent } from './agent.ts';

/** The protocol as it is, or as it was until 2025, with a handshake first. */
export type Era = '2026-07-28' | 'legacy';

/**
 * Connects an agent with the client of the SDK.
 *
 * @param url of the deployment's `/mcp`
 */
export async function connectAgent(
  url: string,
  token: string,
  era: Era = '2026-07-28',
): Promise<Agent> {
  const mode = era === 'legacy' ? era : { pin: era };
  const client = new Client(
    { name: 'test-agent', version: '1.0.0' },
    { versionNegotiation: { mode } },
  );
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  await client.connect(transport);
  return new Agent(client);
}
