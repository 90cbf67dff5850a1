import { deleteCookie, setCookie } from 'hono/cookie';

import { MAX_SESSION_SECONDS } from '../../shared/limits.ts';
import type { AppDeps } from '../deps.ts';
import { csrfToken } from '../middleware/csrf.ts';
import { CSRF_COOKIE, sessionCookieName } from '../middleware/session-cookie.ts';
import type { RouteContext } from '../routes/route.ts';

type CookieDeps = Pick<AppDeps, 'config' | 'clock'>;

/**
 * Keeps a token in the browser, out of reach of scripts.
 *
 * @param name of `sessionCookieName`
 * @param expiresAtMs when the token ends, and with it the session
 */
export async function setSession(
  context: RouteContext,
  deps: CookieDeps,
  name: string,
  session: { readonly token: string; readonly expiresAtMs: number },
): Promise<void> {
  setCookie(context, name, session.token, {
    ...attributes(context),
    httpOnly: true,
    maxAge: secondsLeft(deps, session.expiresAtMs),
  });
  await setCsrfCookie(context, deps, session.token, session.expiresAtMs);
}

/** Gives the pages of the board what their calls have to show; see `csrfToken`. */
export async function setCsrfCookie(
  context: RouteContext,
  deps: CookieDeps,
  binding: string,
  expiresAtMs: number,
): Promise<void> {
  setCookie(context, CSRF_COOKIE, await csrfToken(deps, binding), {
    ...attributes(context),
    maxAge: secondsLeft(deps, expiresAtMs),
  });
}

export function removeSession(context: RouteContext): void {
  const name = sessionCookieName(new URL(context.req.url));
  if (name !== undefined) deleteCookie(context, name, attributes(context));
  deleteCookie(context, CSRF_COOKIE, attributes(context));
}

function attributes(context: RouteContext): {
  readonly path: string;
  readonly sameSite: 'Strict';
  readonly secure: boolean;
} {
  const secure = new URL(context.req.url).protocol === 'https:';
  return { path: '/', sameSite: 'Strict', secure };
}

function secondsLeft({ clock }: CookieDeps, expiresAtMs: number): number {
  const seconds = Math.floor((expiresAtMs - clock.now()) / 1000);
  return Math.max(0, Math.min(seconds, MAX_SESSION_SECONDS));
}
