import { z } from 'zod';

import { isJwksUrl } from './jwks-url.ts';
import { stating } from './parse-with.ts';
import { SCOPES } from './scopes.ts';
import type { Scope } from './scopes.ts';

/** An identity-aware proxy before the deployment, which says in a signed header who is calling. */
export interface SignInProxy {
  /** Name of the header, in lower case. */
  readonly header: string;
  readonly jwksUrl: URL;
  /** Names this deployment among the others behind the same proxy. */
  readonly audience: string;
  readonly issuer: string | undefined;
  /** What everybody may whom the proxy lets through. */
  readonly scopes: readonly Scope[];
}

const MAX_CLAIM_CHARS = 1000;

const HEADER_RULE =
  'must be the name of a header that the proxy sets, and not one that carries credentials of another kind';
const URL_RULE =
  'must be an https:// URL without user and fragment (http:// for this machine alone)';
const CLAIM_RULE = `must be 1 to ${MAX_CLAIM_CHARS} characters`;
const SCOPES_RULE = `must be scopes separated by spaces: ${SCOPES.join(', ')}`;
const NEEDED_RULE = 'is required where SIGN_IN_PROXY_HEADER is set';
const ALONE_RULE = 'needs SIGN_IN_PROXY_HEADER';

const claim = z.string(stating(CLAIM_RULE)).min(1, CLAIM_RULE).max(MAX_CLAIM_CHARS, CLAIM_RULE);

/** The variables, for the schema of all of them. */
export const PROXY_VARIABLES = {
  SIGN_IN_PROXY_HEADER: z
    .string(stating(HEADER_RULE))
    .regex(/^[A-Za-z][A-Za-z0-9-]{0,99}$/, HEADER_RULE)
    .refine((name) => !['authorization', 'cookie'].includes(name.toLowerCase()), HEADER_RULE)
    .optional(),
  SIGN_IN_PROXY_JWKS_URL: z.string(stating(URL_RULE)).refine(isJwksUrl, URL_RULE).optional(),
  SIGN_IN_PROXY_AUDIENCE: claim.optional(),
  SIGN_IN_PROXY_ISSUER: claim.optional(),
  SIGN_IN_PROXY_SCOPES: z
    .string(stating(SCOPES_RULE))
    .transform((text) => text.split(' ').filter((scope) => scope !== ''))
    .refine((scopes) => scopes.length > 0 && scopes.every(isScope), SCOPES_RULE)
    .transform((scopes) => scopes.filter(isScope))
    .optional(),
};

/** The variables after parsing. */
export interface ProxyVariables {
  readonly SIGN_IN_PROXY_HEADER?: string | undefined;
  readonly SIGN_IN_PROXY_JWKS_URL?: string | undefined;
  readonly SIGN_IN_PROXY_AUDIENCE?: string | undefined;
  readonly SIGN_IN_PROXY_ISSUER?: string | undefined;
  readonly SIGN_IN_PROXY_SCOPES?: readonly Scope[] | undefined;
}

/**
 * What is wrong with the variables together, named by variable. An audience is not optional: all deployments behind one
 * proxy share its keys, and a token for one of them must not open another.
 */
export function proxyProblems(value: ProxyVariables): { path: string; message: string }[] {
  const { SIGN_IN_PROXY_HEADER: header, ...others } = value;
  const needed = ['SIGN_IN_PROXY_JWKS_URL', 'SIGN_IN_PROXY_AUDIENCE'] as const;
  if (header !== undefined) {
    return needed
      .filter((path) => others[path] === undefined)
      .map((path) => ({ path, message: NEEDED_RULE }));
  }
  return (Object.keys(PROXY_VARIABLES) as (keyof ProxyVariables)[])
    .filter((path) => value[path] !== undefined)
    .map((path) => ({ path, message: ALONE_RULE }));
}

export function signInProxy(value: ProxyVariables): SignInProxy | undefined {
  const { SIGN_IN_PROXY_HEADER: header, SIGN_IN_PROXY_JWKS_URL: url } = value;
  if (header === undefined || url === undefined) return undefined;
  return Object.freeze({
    header: header.toLowerCase(),
    jwksUrl: new URL(url),
    audience: value.SIGN_IN_PROXY_AUDIENCE ?? '',
    issuer: value.SIGN_IN_PROXY_ISSUER,
    scopes: Object.freeze([...(value.SIGN_IN_PROXY_SCOPES ?? (['read'] as const))]),
  });
}

function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}
