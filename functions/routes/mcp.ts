import { z } from 'zod';

import type { JsonValue } from '../../shared/json-value.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import { apiCaller } from '../mcp/api-call.ts';
import { readJson } from '../middleware/read-json.ts';
import type { Route } from './route.ts';

const anyMessage = z.custom<JsonValue>((value) => value !== undefined);

/** The board for agents: the Model Context Protocol over streamable HTTP, one message a request. */
export const mcp: Route = {
  method: 'POST',
  path: '/mcp',
  access: { kind: 'any_token' },
  database: false, // each call of the API that it makes looks for itself
  idempotencyKey: 'ignored',
  handle: async (context) => {
    requireOwnOrigin(context.req.header('origin'), context.req.url);
    const message = await readJson(context, anyMessage);
    const requestId = context.get('requestId');
    // Loaded by whoever asks for it: most isolates never see such a message.
    const { answerMessage } = await import('../mcp/answer-message.ts');
    return await answerMessage(context.req.raw, message, {
      callApi: apiCaller(context.get('callApp'), context.req.raw, requestId),
      caller: { queues: context.get('queues'), scopes: context.get('scopes') },
      requestId,
    });
  },
};

/** A page of another site speaks for whoever looks at it, not for itself. */
function requireOwnOrigin(origin: string | undefined, url: string): void {
  if (origin === undefined || URL.parse(origin)?.host === new URL(url).host) return;
  throw new LeaseholdError('forbidden', 'Pages of other origins may not call this.');
}
