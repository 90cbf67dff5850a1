import { LeaseholdError } from '../../shared/errors.ts';
import type { Scope } from '../../shared/scopes.ts';
import { verifyWebhook } from '../../shared/webhook.ts';
import type { AppDeps } from '../deps.ts';
import { HttpFault } from '../http-fault.ts';
import type { Access, RouteContext } from '../routes/route.ts';
import { readBody } from './read-body.ts';
import { verifyToken } from './verify-token.ts';

const CHALLENGE = 'Bearer realm="leasehold"';

const NO_SCOPES: ReadonlySet<string> = new Set();

type AuthDeps = Pick<AppDeps, 'config' | 'clock' | 'timer' | 'ids' | 'log' | 'jwks'>;

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
  /** Whether a token says so: somebody outside, whom a rate limit is for. */
  readonly byToken: boolean;
}

/**
 * Decides who is calling and whether they may. Closed by default: an access that is missing or unknown lets nobody in.
 *
 * @throws {LeaseholdError} `unauthenticated`, `bad_signature`, `forbidden`, `sign_in_unavailable`
 */
export async function authorise(
  context: RouteContext,
  deps: AuthDeps,
  access: Access | undefined,
): Promise<Caller> {
  switch (access?.kind) {
    case 'public':
      return { actor: 'anonymous', queues: undefined, scopes: NO_SCOPES, byToken: false };
    case 'token':
      return await authoriseToken(context, deps, access.scope);
    case 'any_token':
      return await authoriseToken(context, deps, undefined);
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
): Promise<Caller> {
  const token = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(
    context.req.header('authorization') ?? '',
  )?.[1];
  if (token === undefined) {
    throw new HttpFault('unauthenticated', 'Send a bearer token in the Authorization header.', {
      'www-authenticate': CHALLENGE,
    });
  }
  const verified = await verifyToken(token, deps);
  if (!verified.ok) {
    throw new HttpFault('unauthenticated', verified.message, {
      'www-authenticate': `${CHALLENGE}, error="invalid_token"`,
    });
  }
  const { subject, scopes, queues } = verified.token;
  if (scope !== undefined && !scopes.includes(scope)) {
    throw new HttpFault('forbidden', `The token lacks the scope "${scope}".`, {
      'www-authenticate': `${CHALLENGE}, error="insufficient_scope", scope="${scope}"`,
    });
  }
  return { actor: subject, queues, scopes: new Set(scopes), byToken: true };
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
    return {
      actor: `worker/${ids.uuidv7()}`,
      queues: undefined,
      scopes: NO_SCOPES,
      byToken: false,
    };
  }
  log.warn('poke_refused', { reason: outcome.reason });
  throw new HttpFault('bad_signature', 'The poke is not signed with a key of this deployment.', {
    'www-authenticate': CHALLENGE,
  });
}
