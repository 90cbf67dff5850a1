import { createLocalJWKSet, decodeProtectedHeader, errors, jwtVerify } from 'jose';
import type { JWTPayload, JWTVerifyOptions } from 'jose';
import { z } from 'zod';

import type { Config } from '../../shared/config.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import { MAX_OWNER_CHARS, MAX_TOKEN_CHARS, MAX_TOKEN_QUEUES } from '../../shared/limits.ts';
import { isValidName } from '../../shared/names.ts';
import { queueName } from '../../shared/schemas/names.ts';
import { publicKeys } from './jwks.ts';
import type { JwksDeps } from './jwks.ts';

const CLOCK_TOLERANCE_SECONDS = 5;
/** The last one that a `Date` can be. */
const LAST_INSTANT_MS = 8.64e15;
const SHARED_SECRET_ALGORITHM = 'HS256';
/** What a public key may have signed. A shared-secret algorithm is never among them: the key is public. */
const PUBLIC_KEY_ALGORITHMS = [
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
  'PS256',
  'PS384',
  'PS512',
  'RS256',
  'RS384',
  'RS512',
];

/** What a token says, once its signature, times, issuer and audience are checked. */
export interface VerifiedToken {
  /** The actor in the log. */
  readonly subject: string;
  readonly scopes: readonly string[];
  /** The only queues it is for; undefined: all. */
  readonly queues: ReadonlySet<string> | undefined;
  /** When it ends. */
  readonly expiresAtMs: number;
}

export type TokenOutcome =
  | { readonly ok: true; readonly token: VerifiedToken }
  /** Why not, in a sentence for its bearer. */
  | { readonly ok: false; readonly message: string };

export interface TokenDeps extends JwksDeps {
  readonly config: Pick<Config, 'authSecret' | 'jwksUrl' | 'authIssuer' | 'authAudience'>;
}

const queuesClaim = z.array(queueName).max(MAX_TOKEN_QUEUES).optional();

/**
 * Checks a JWT: HS256 with the deployment's secret, or a public key of the sign-in provider.
 *
 * The algorithm in the header chooses between the two before any key is touched, so a token can never make one kind of
 * key serve as the other.
 *
 * @throws {LeaseholdError} `sign_in_unavailable` when the provider's keys cannot be read
 */
export async function verifyToken(token: string, deps: TokenDeps): Promise<TokenOutcome> {
  return await verifyTokenWith(token, deps, claimsOf);
}

/** The same with another reading of what the token says. */
export async function verifyTokenWith(
  token: string,
  deps: TokenDeps,
  read: (payload: JWTPayload) => TokenOutcome,
): Promise<TokenOutcome> {
  if (token.length > MAX_TOKEN_CHARS) return refused(`The token is over ${MAX_TOKEN_CHARS} bytes.`);
  try {
    return read(await verifiedPayload(token, deps));
  } catch (error) {
    if (error instanceof LeaseholdError) throw error;
    return refused(reasonOf(error));
  }
}

async function verifiedPayload(token: string, deps: TokenDeps): Promise<JWTPayload> {
  const { config, clock } = deps;
  const rules: JWTVerifyOptions = {
    requiredClaims: ['exp', 'sub'],
    currentDate: new Date(clock.now()),
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
    ...(config.authIssuer === undefined ? {} : { issuer: config.authIssuer }),
    ...(config.authAudience === undefined ? {} : { audience: config.authAudience }),
  };
  const { alg } = decodeProtectedHeader(token);
  if (alg === SHARED_SECRET_ALGORITHM && config.authSecret !== undefined) {
    const secret = new TextEncoder().encode(config.authSecret.reveal());
    const algorithms = [SHARED_SECRET_ALGORITHM];
    return (await jwtVerify(token, secret, { ...rules, algorithms })).payload;
  }
  if (config.jwksUrl === undefined || alg === undefined || !PUBLIC_KEY_ALGORITHMS.includes(alg)) {
    throw new errors.JOSEAlgNotAllowed();
  }
  const options = { ...rules, algorithms: PUBLIC_KEY_ALGORITHMS };
  const atHand = await publicKeys(config.jwksUrl, deps);
  try {
    return (await jwtVerify(token, createLocalJWKSet(atHand), options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    // The provider may have changed keys since.
    const fresh = await publicKeys(config.jwksUrl, deps, true);
    if (fresh === atHand) throw error;
    return (await jwtVerify(token, createLocalJWKSet(fresh), options)).payload;
  }
}

function claimsOf({ sub, scope, exp, ...others }: JWTPayload): TokenOutcome {
  if (typeof sub !== 'string' || !isValidName(sub, MAX_OWNER_CHARS)) {
    return refused('The token has no usable subject (sub).');
  }
  // A list that cannot be read must not become "all queues".
  const queues = queuesClaim.safeParse(others['queues']);
  if (!queues.success) {
    return refused(`The claim "queues" must be a list of at most ${MAX_TOKEN_QUEUES} queue names.`);
  }
  return {
    ok: true,
    token: {
      subject: sub,
      scopes: typeof scope === 'string' ? scope.split(' ') : [],
      queues: queues.data === undefined ? undefined : new Set(queues.data),
      expiresAtMs: endOf(exp),
    },
  };
}

/** The milliseconds of an `exp`, which may lie beyond all instants. */
export function endOf(exp: number | undefined): number {
  return Math.min((exp ?? 0) * 1000, LAST_INSTANT_MS);
}

function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'The token has expired.';
  if (error instanceof errors.JWTClaimValidationFailed && error.reason === 'check_failed') {
    return `The token is for another ${error.claim === 'iss' ? 'issuer (iss)' : `use (${error.claim})`}.`;
  }
  return 'The token is not valid: it must be signed with a key of this deployment and have sub, scope and exp.';
}

function refused(message: string): TokenOutcome {
  return { ok: false, message };
}
