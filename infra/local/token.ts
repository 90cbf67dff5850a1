import { SignJWT } from 'jose';

/**
 * A bearer token for the local API.
 *
 * @param scopes of `enqueue`, `work`, `read`
 * @example const token = await localToken(secret, { subject: 'me', scopes: ['read'], days: 1 });
 */
export function localToken(
  authSecret: string,
  claims: { readonly subject: string; readonly scopes: readonly string[]; readonly days: number },
): Promise<string> {
  return new SignJWT({ scope: claims.scopes.join(' ') })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(claims.subject)
    .setIssuedAt()
    .setExpirationTime(`${claims.days} days`)
    .sign(new TextEncoder().encode(authSecret));
}
