import { LeaseholdError } from '../../shared/errors.ts';
import type { Scope } from '../../shared/scopes.ts';
import { verifyWebhook } from '../../shared/webhook.ts';
import type { AppDeps } from '../deps.ts';
import { HttpFault } from '../http-fault.ts';
import type { Access, RouteContext } from '../routes/route.ts';
import { credentialOf, csrfBinding } from './credential.ts';
import type { Credential } from './credential.ts';
import { requireOwnPage } from './csrf.ts';
import { providerIssuer } from './provider-issuer.ts';
import { readBody } from './read-body.ts';
import { verifyProxyToken } from './verify-proxy-token.ts';
import { verifyToken } from './verify-token.ts';
import type { TokenOutcome } from './verify-token.ts';

const CHALLENGE = 'Bearer realm="leasehold"';

type AuthDeps = Pick<AppDeps, 'config' | 'clock' | 'timer' | 'ids' | 'log' | 'jwks' | 'proxyKeys'>;

/** Who is calling, from the credential alone. */
export interface Caller {
  /**
   * The subject of a token; a poke comes from the deployment itself, and each of its workers gets a name of its own.
   */
  readonly actor: string;
  /** The only queues the credential is for; undefined: all. */
  readonly queues: ReadonlySet<string> | undefined;
  /** What a token allows. */
  readonly scopes: ReadonlySet<string>;
  /** When the token ends; undefined: there is none. */
  readonly expiresAtMs: number | undefined;
  /** Whether a token says so: somebody outside, whom a rate limit is for. */
  readonly byToken: boolean;
}

const NO_TOKEN: Omit<Caller, 'actor'> = {
  queues: undefined,
  scopes: new Set(),
  expiresAtMs: undefined,
  byToken: false,
};

/**
 * Decides who is calling and whether they may. Closed by default: an access that is missing or unknown lets nobody in.
 *
 * @throws {LeaseholdError} `unauthenticated`, `bad_signature`, `forbidden`, `csrf_refused`, `sign_in_unavailable`
 */
export async function authorise(
  context: RouteContext,
  deps: AuthDeps,
  access: Access | undefined,
): Promise<Caller> {
  switch (access?.kind) {
    case 'public':
      return { actor: 'anonymous', ...NO_TOKEN };
    case 'token':
      return await authoriseToken(context, deps, access.scope);
    case 'any_token':
      return await authoriseToken(context, deps, undefined, access.metadata);
    case 'poke_or_token':
      return context.req.header('webhook-signature') === undefined
        ? await authoriseToken(context, deps, access.scope)
        : await authorisePoke(context, deps);
    case undefined:
    default:
      deps.log.error('route_without_access');
      throw new LeaseholdError('forbidden', 'This route does not say who may call it.');
  }
}

async function authoriseToken(
  context: RouteContext,
  deps: AuthDeps,
  scope: Scope | undefined,
  metadata?: string,
): Promise<Caller> {
  const challenge =
    metadata === undefined || providerIssuer(deps.config) === undefined
      ? CHALLENGE
      : `${CHALLENGE}, resource_metadata="${new URL(metadata, context.req.url).href}"`;
  const credential = credentialOf(context, deps.config);
  if (credential === undefined) {
    throw new HttpFault('unauthenticated', 'Send a bearer token in the Authorization header.', {
      'www-authenticate': challenge,
    });
  }
  const verified = await verifyCredential(credential, deps);
  if (!verified.ok) {
    throw new HttpFault('unauthenticated', verified.message, {
      'www-authenticate': `${challenge}, error="invalid_token"`,
    });
  }
  const { subject, scopes, queues, expiresAtMs } = verified.token;
  if (credential.from !== 'header') {
    await requireOwnPage(context, deps, csrfBinding(credential, subject));
  }
  if (scope !== undefined && !scopes.includes(scope)) {
    throw new HttpFault('forbidden', `The token lacks the scope "${scope}".`, {
      'www-authenticate': `${CHALLENGE}, error="insufficient_scope", scope="${scope}"`,
    });
  }
  return { actor: subject, queues, scopes: new Set(scopes), expiresAtMs, byToken: true };
}

async function verifyCredential(
  { from, token }: Credential,
  deps: AuthDeps,
): Promise<TokenOutcome> {
  const { signInProxy: proxy } = deps.config;
  if (from !== 'proxy' || proxy === undefined) return await verifyToken(token, deps);
  return await verifyProxyToken(token, proxy, deps);
}

async function authorisePoke(
  context: RouteContext,
  { config, clock, ids, log }: AuthDeps,
): Promise<Caller> {
  const bytes = await readBody(context);
  const outcome = verifyWebhook(
    config.pokeSecrets.map((key) => key.reveal()),
    {
      headers: (name) => context.req.header(name),
      body: new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(bytes),
      nowMs: clock.now(),
    },
  );
  if (outcome.outcome === 'verified') {
    return { actor: `worker/${ids.uuidv7()}`, ...NO_TOKEN };
  }
  log.warn('poke_refused', { reason: outcome.reason });
  throw new HttpFault('bad_signature', 'The poke is not signed with a key of this deployment.', {
    'www-authenticate': CHALLENGE,
  });
}
