import type { JWTPayload } from 'jose';

import { MAX_OWNER_CHARS } from '../../shared/limits.ts';
import { isValidName } from '../../shared/names.ts';
import type { SignInProxy } from '../../shared/proxy-settings.ts';
import { endOf, verifyTokenWith } from './verify-token.ts';
import type { TokenDeps, TokenOutcome } from './verify-token.ts';

/**
 * Checks what an identity-aware proxy says. It says who, and never what they may: that is for the settings, so its `scope`
 * and `queues` count for nothing, and neither does a token of this deployment's own in its place.
 *
 * @throws {LeaseholdError} `sign_in_unavailable` when the proxy's keys cannot be read
 */
export async function verifyProxyToken(
  token: string,
  proxy: SignInProxy,
  {
    proxyKeys,
    ...deps
  }: Omit<TokenDeps, 'config' | 'jwks'> & {
    readonly proxyKeys: TokenDeps['jwks'];
  },
): Promise<TokenOutcome> {
  const config = {
    authSecret: undefined,
    jwksUrl: proxy.jwksUrl,
    authIssuer: proxy.issuer,
    authAudience: proxy.audience,
  };
  return await verifyTokenWith(token, { ...deps, config, jwks: proxyKeys }, (payload) => {
    const subject = personOf(payload);
    if (subject === undefined) return { ok: false, message: 'The proxy does not say who calls.' };
    return {
      ok: true,
      token: {
        subject,
        scopes: proxy.scopes,
        queues: undefined,
        expiresAtMs: endOf(payload.exp),
      },
    };
  });
}

/** The address that people know each other by, or else the proxy's own name for them. */
function personOf({ sub, ...others }: JWTPayload): string | undefined {
  return [others['email'], sub].find(
    (name): name is string => typeof name === 'string' && isValidName(name, MAX_OWNER_CHARS),
  );
}
