import { getCookie } from 'hono/cookie';

import type { RouteContext } from '../routes/route.ts';

/** Readable by the pages of the board, which repeat it in the header `x-csrf-token`. */
export const CSRF_COOKIE = 'leasehold_csrf';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * The cookie that holds the bearer token of a session. Its prefix binds it to this one host: no neighbour under the same
 * domain can set it. Plain HTTP, where browsers refuse such a cookie, is for this machine alone.
 *
 * @returns undefined where no session is kept: the address is neither https nor this machine's
 */
export function sessionCookieName({ protocol, hostname }: URL): string | undefined {
  if (protocol === 'https:') return '__Host-leasehold';
  return LOOPBACK.has(hostname) ? 'leasehold_session' : undefined;
}

/** The token of the session that the request brings, if it does. */
export function sessionToken(context: RouteContext): string | undefined {
  const name = sessionCookieName(new URL(context.req.url));
  const token = name === undefined ? undefined : getCookie(context, name);
  return token === '' ? undefined : token;
}
