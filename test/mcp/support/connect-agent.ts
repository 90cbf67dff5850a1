import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { Agent } from './agent.ts';

/**
 * Connects an agent with the client of the SDK.
 *
 * @param url of the deployment's `/mcp`
 */
export async function connectAgent(url: string, token: string): Promise<Agent> {
  const client = new Client({ name: 'test-agent', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  // The SDK's own types disagree under exact optional properties.
  await client.connect(transport as Parameters<Client['connect']>[0]);
  return new Agent(client);
}
