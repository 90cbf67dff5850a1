import {
  createMcpHandler,
  isLegacyRequest,
  parseJSONRPCMessage,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';

import { LeaseholdError } from '../../shared/errors.ts';
import type { JsonValue } from '../../shared/json-value.ts';
import { createMcpServer } from './mcp-server.ts';
import type { McpServerDeps } from './mcp-server.ts';

/**
 * Answers one message of the Model Context Protocol that came by streamable HTTP: JSON for a request, 202 for anything else.
 * Both forms of the protocol are spoken, the one that keeps no sessions and the older one that begins with a handshake; here
 * neither has a session or a stream.
 *
 * @throws {LeaseholdError} `invalid_request` when it is no such message
 */
export async function answerMessage(
  given: Request,
  message: JsonValue,
  deps: McpServerDeps,
): Promise<Response> {
  requireOneMessage(message);
  const headers = new Headers(given.headers);
  // Whatever it would rather have, it gets JSON.
  headers.set('accept', 'application/json, text/event-stream');
  const request = new Request(given.url, { method: 'POST', headers, signal: given.signal });
  if (await isLegacyRequest(request, message)) {
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await createMcpServer(deps).connect(transport);
    return await transport.handleRequest(request, { parsedBody: message });
  }
  const handler = createMcpHandler(() => createMcpServer(deps), {
    legacy: 'reject',
    maxSubscriptions: 0, // a subscription is a stream
  });
  return await handler.fetch(request, { parsedBody: message });
}

/** Batches are of a version long past, and one that cancels a request of its own would never be answered. */
function requireOneMessage(message: JsonValue): void {
  try {
    parseJSONRPCMessage(message);
  } catch {
    const rule = 'The body must be one JSON-RPC 2.0 message.';
    throw new LeaseholdError('invalid_request', rule, { problems: [{ path: '$', message: rule }] });
  }
}
