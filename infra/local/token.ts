import { SignJWT } from 'jose';

export interface TokenClaims {
  /** The actor in the log. */
  readonly subject: string;
  /** Of `shared/scopes.ts`. */
  readonly scopes: readonly string[];
  readonly days: number;
  /** The only queues it is for; undefined: all. */
  readonly queues?: readonly string[] | undefined;
  readonly issuer?: string | undefined;
  readonly audience?: string | undefined;
}

/**
 * A bearer token, signed with the deployment's secret.
 *
 * @example const token = await localToken(secret, { subject: 'me', scopes: ['read'], days: 1 });
 */
export function localToken(authSecret: string, claims: TokenClaims): Promise<string> {
  const { subject, scopes, days, queues, issuer, audience } = claims;
  const token = new SignJWT({
    scope: scopes.join(' '),
    ...(queues === undefined ? {} : { queues }),
  })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(subject)
    .setIssuedAt()
    .setExpirationTime(`${days} days`);
  if (issuer) token.setIssuer(issuer);
  if (audience) token.setAudience(audience);
  return token.sign(new TextEncoder().encode(authSecret));
}
