import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import type { CallToolResult, Tool as ToolDocument } from '@modelcontextprotocol/server';

import type { JsonValue } from '../../shared/json-value.ts';
import { CONTRACT_VERSION } from '../../shared/openapi/document.ts';
import { knownError, problemDocument } from '../middleware/problem.ts';
import type { ContractTexts } from '../contract-texts.ts';
import { TOOLS } from './all-tools.ts';
import type { CallApi } from './api-call.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { objectSchema } from './json-schema.ts';
import { getPrompt, PROMPTS } from './prompts.ts';
import { readResource, RESOURCE_TEMPLATES, RESOURCES } from './resources.ts';
import { toolAnswer } from './tool-answer.ts';
import type { Tool, ToolCaller } from './tool.ts';

export interface McpServerDeps {
  readonly callApi: CallApi;
  readonly caller: ToolCaller;
  readonly requestId: string;
  readonly contract: ContractTexts;
}

/**
 * The board as a server of the Model Context Protocol, for one message: it keeps nothing, so any isolate answers the next
 * one. It shows the tools that the caller's token allows; what a call may do is decided by the API as ever.
 */
export function createMcpServer(deps: McpServerDeps): Server {
  const { callApi, caller, contract } = deps;
  const server = new Server(
    { name: 'leasehold', title: 'Leasehold', version: CONTRACT_VERSION },
    {
      capabilities: { tools: {}, resources: {}, prompts: {} },
      instructions: INSTRUCTIONS,
      jsonSchemaValidator: { getValidator: asksNothing },
    },
  );
  server.setRequestHandler('tools/list', () => {
    contract.tools ??= TOOLS.map(toolDocument);
    return { tools: contract.tools.filter((_, at) => isFor(caller, TOOLS[at])) };
  });
  server.setRequestHandler('tools/call', async ({ params }) => {
    const tool = TOOLS.find(({ name }) => name === params.name);
    if (tool === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'No tool has this name.');
    return await calledTool(deps, tool, params.arguments ?? {});
  });
  server.setRequestHandler('resources/list', () => ({ resources: [...RESOURCES] }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [...RESOURCE_TEMPLATES],
  }));
  server.setRequestHandler(
    'resources/read',
    async ({ params }) => await readResource(callApi, params.uri),
  );
  server.setRequestHandler('prompts/list', () => ({ prompts: [...PROMPTS] }));
  server.setRequestHandler('prompts/get', ({ params }) =>
    getPrompt(params.name, params.arguments ?? {}),
  );
  return server;
}

function isFor({ scopes }: ToolCaller, tool: Tool | undefined): boolean {
  return tool !== undefined && scopes.has(tool.scope);
}

/** Arguments that break a rule are the caller's to repair, so they are an answer of the tool, as any refusal is. */
async function calledTool(
  { callApi, caller, requestId }: McpServerDeps,
  tool: Tool,
  given: unknown,
): Promise<CallToolResult> {
  let request;
  try {
    request = tool.request(given, caller);
  } catch (thrown) {
    const error = knownError(thrown);
    if (error !== thrown) throw thrown;
    const body = JSON.parse(JSON.stringify(problemDocument(error, requestId))) as {
      readonly [name: string]: JsonValue;
    };
    return toolAnswer(tool, { status: 400, body });
  }
  return toolAnswer(tool, await callApi(request));
}

function toolDocument({ name, title, description, hints, input, output }: Tool): ToolDocument {
  return {
    name,
    title,
    description,
    annotations: { title, ...hints },
    inputSchema: objectSchema(input),
    ...(output === undefined ? {} : { outputSchema: objectSchema(output) }),
  };
}

/** The validator of the SDK is for what a server asks its client, and compiles code, which Workers do not allow. */
function asksNothing(): never {
  throw new Error('This server asks its clients nothing.');
}
