import { errors, jwtVerify } from 'jose';

import { LeaseholdError } from '../../shared/errors.ts';
import { MAX_OWNER_CHARS } from '../../shared/limits.ts';
import { isValidName } from '../../shared/names.ts';
import { verifyWebhook } from '../../shared/webhook.ts';
import type { AppDeps } from '../deps.ts';
import { HttpFault } from '../http-fault.ts';
import type { Access, RouteContext, Scope } from '../routes/route.ts';
import { readBody } from './read-body.ts';

const CLOCK_TOLERANCE_SECONDS = 5;
const CHALLENGE = 'Bearer realm="leasehold"';

type AuthDeps = Pick<AppDeps, 'config' | 'clock' | 'ids' | 'log'>;

/**
 * Decides who is calling and whether they may. Closed by default: an access that is missing or unknown lets nobody in.
 *
 * @returns the actor, from the credential alone: the subject of a token; a poke comes from the deployment itself, and
 *   each of its workers gets a name of its own
 * @throws {LeaseholdError} `unauthenticated`, `bad_signature`, `forbidden`
 */
export async function authorise(
  context: RouteContext,
  deps: AuthDeps,
  access: Access | undefined,
): Promise<string> {
  switch (access?.kind) {
    case 'public':
      return 'anonymous';
    case 'token':
      return await authoriseToken(context, deps, access.scope);
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
  { config, clock }: AuthDeps,
  scope: Scope,
): Promise<string> {
  const token = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(
    context.req.header('authorization') ?? '',
  )?.[1];
  if (token === undefined) {
    throw new HttpFault('unauthenticated', 'Send a bearer token in the Authorization header.', {
      'www-authenticate': CHALLENGE,
    });
  }
  const claims = await verifyToken(token, config.authSecret.reveal(), clock.now());
  const scopes = typeof claims.scope === 'string' ? claims.scope.split(' ') : [];
  if (!scopes.includes(scope)) {
    throw new HttpFault('forbidden', `The token lacks the scope "${scope}".`, {
      'www-authenticate': `${CHALLENGE}, error="insufficient_scope", scope="${scope}"`,
    });
  }
  return claims.subject;
}

async function verifyToken(
  token: string,
  secret: string,
  nowMs: number,
): Promise<{ readonly subject: string; readonly scope: unknown }> {
  try {
    const { payload } = await jwtVerify(token, new TextEncoder().encode(secret), {
      algorithms: ['HS256'],
      requiredClaims: ['exp', 'sub'],
      currentDate: new Date(nowMs),
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
    });
    const { sub, scope } = payload;
    if (typeof sub === 'string' && isValidName(sub, MAX_OWNER_CHARS))
      return { subject: sub, scope };
    throw invalidToken('The token has no usable subject (sub).');
  } catch (error) {
    if (error instanceof LeaseholdError) throw error;
    throw invalidToken(
      error instanceof errors.JWTExpired
        ? 'The token has expired.'
        : 'The token is not valid: it must be signed with HS256 and have sub, scope and exp.',
    );
  }
}

function invalidToken(message: string): HttpFault {
  return new HttpFault('unauthenticated', message, {
    'www-authenticate': `${CHALLENGE}, error="invalid_token"`,
  });
}

async function authorisePoke(
  context: RouteContext,
  { config, clock, ids, log }: AuthDeps,
): Promise<string> {
  const bytes = await readBody(context);
  const outcome = verifyWebhook(
    config.pokeSecrets.map((key) => key.reveal()),
    {
      headers: (name) => context.req.header(name),
      body: new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(bytes),
      nowMs: clock.now(),
    },
  );
  if (outcome.outcome === 'verified') return `worker/${ids.uuidv7()}`;
  log.warn('poke_refused', { reason: outcome.reason });
  throw new HttpFault('bad_signature', 'The poke is not signed with a key of this deployment.', {
    'www-authenticate': CHALLENGE,
  });
}
