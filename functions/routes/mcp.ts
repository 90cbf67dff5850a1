import { z } from 'zod';

import type { JsonValue } from '../../shared/json-value.ts';
import { SCOPES } from '../../shared/scopes.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import { apiCaller } from '../mcp/api-call.ts';
import { providerIssuer } from '../middleware/provider-issuer.ts';
import { readJson } from '../middleware/read-json.ts';
import type { Route } from './route.ts';

const anyMessage = z.custom<JsonValue>((value) => value !== undefined);

const PATH = '/mcp';
const PROVIDER_METADATA_PATH = `/.well-known/oauth-protected-resource${PATH}`;

/** The board for agents: the Model Context Protocol over streamable HTTP, one message a request. */
export const mcp: Route = {
  method: 'POST',
  path: PATH,
  access: { kind: 'any_token', metadata: PROVIDER_METADATA_PATH },
  database: false, // each call of the API that it makes looks for itself
  idempotencyKey: 'ignored',
  handle: async (context, deps) => {
    requireOwnOrigin(context.req.header('origin'), context.req.url);
    const message = await readJson(context, anyMessage);
    const requestId = context.get('requestId');
    // Loaded by whoever asks for it: most isolates never see such a message.
    const { answerMessage } = await import('../mcp/answer-message.ts');
    return await answerMessage(context.req.raw, message, {
      callApi: apiCaller(context.get('callApp'), context.req.raw, requestId),
      caller: { queues: context.get('queues'), scopes: context.get('scopes') },
      requestId,
      contract: deps.contract,
    });
  },
};

/**
 * Where an agent's client gets a token, in the words of OAuth (RFC 9728): from the provider whose tokens this deployment
 * takes. Without one, tokens are made by hand, and there is nothing to tell.
 */
export const providerMetadata: Route = {
  method: 'GET',
  path: PROVIDER_METADATA_PATH,
  access: { kind: 'public' },
  database: false,
  handle: (context, { config }) => {
    const issuer = providerIssuer(config);
    if (issuer === undefined) {
      throw new LeaseholdError('not_found', 'Tokens of this deployment come from no provider.');
    }
    return context.json({
      resource: new URL(PATH, context.req.url).href,
      resource_name: 'Leasehold',
      authorization_servers: [issuer],
      scopes_supported: SCOPES,
      bearer_methods_supported: ['header'],
    });
  },
};

/** A page of another site speaks for whoever looks at it, not for itself. */
function requireOwnOrigin(origin: string | undefined, url: string): void {
  if (origin === undefined || URL.parse(origin)?.host === new URL(url).host) return;
  throw new LeaseholdError('forbidden', 'Pages of other origins may not call this.');
}
