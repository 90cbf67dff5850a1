import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';

import { LeaseholdError } from '../../shared/errors.ts';
import type { JsonValue } from '../../shared/json-value.ts';
import { createMcpServer } from './mcp-server.ts';
import type { McpServerDeps } from './mcp-server.ts';

/**
 * Answers one message of the Model Context Protocol that came by streamable HTTP: JSON for a request, 202 for anything else.
 * There are no sessions and no streams.
 *
 * @throws {LeaseholdError} `invalid_request` when it is no such message, or of a version that the SDK does not know
 */
export async function answerMessage(
  request: Request,
  message: JsonValue,
  deps: McpServerDeps,
): Promise<Response> {
  // Batches are of a version long past, and one that cancels a request of its own would never be answered.
  if (!JSONRPCMessageSchema.safeParse(message).success) {
    throw refused('The body must be one JSON-RPC 2.0 message.');
  }
  const server = createMcpServer(deps);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  const headers = new Headers(request.headers);
  // Whatever it would rather have, it gets JSON.
  headers.set('accept', 'application/json, text/event-stream');
  const answer = await transport.handleRequest(
    new Request(request.url, { method: 'POST', headers }),
    {
      parsedBody: message,
    },
  );
  if (answer.status < 400) return answer;
  const { error } = (await answer.json()) as { readonly error?: { readonly message?: string } };
  throw refused(error?.message ?? 'The message is refused.');
}

function refused(message: string): LeaseholdError {
  return new LeaseholdError('invalid_request', message, { problems: [{ path: '$', message }] });
}
