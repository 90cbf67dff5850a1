import { html, raw } from 'hono/html';
import type { ContentfulStatusCode } from 'hono/utils/http-status';

import { LeaseholdError } from '../../shared/errors.ts';
import { MAX_SESSION_TOKEN_CHARS } from '../../shared/limits.ts';
import type { AppDeps } from '../deps.ts';
import { requireSameOrigin } from '../middleware/csrf.ts';
import { PROBLEMS } from '../middleware/problem.ts';
import { readBody } from '../middleware/read-body.ts';
import { sessionCookieName } from '../middleware/session-cookie.ts';
import { verifyToken } from '../middleware/verify-token.ts';
import type { VerifiedToken } from '../middleware/verify-token.ts';
import type { Route, RouteContext } from '../routes/route.ts';
import { boardPage } from './page.ts';
import { setSession } from './session-cookies.ts';

const PATH = '/board/sign-in';
const HOME = '/board';
const FORM_TYPE = /^application\/x-www-form-urlencoded(?:;|$)/i;

/** A form that takes a bearer token; `?next=` says where to go on. It works without a script. */
export const signInPage: Route = {
  method: 'GET',
  path: PATH,
  access: { kind: 'public' },
  database: false,
  handle: (context) => formPage(context, context.req.query('next')),
};

/** Exchanges a token for a session, which no script can read. */
export const signIn: Route = {
  method: 'POST',
  path: PATH,
  access: { kind: 'public' },
  database: false,
  idempotencyKey: 'ignored',
  handle: async (context, deps) => {
    const form = await readForm(context);
    const next = form.get('next') ?? undefined;
    try {
      requireSameOrigin(context); // else a stranger's page could sign somebody in as the stranger
      const name = sessionCookieName(new URL(context.req.url));
      if (name === undefined) {
        throw new LeaseholdError('invalid_request', 'The board is for https:// addresses alone.');
      }
      const token = (form.get('token') ?? '').trim().replace(/^Bearer +/i, '');
      const { expiresAtMs } = await boardToken(token, deps);
      await setSession(context, deps, name, { token, expiresAtMs });
      return context.redirect(pathWithin(context, next), 303);
    } catch (error) {
      if (!(error instanceof LeaseholdError)) throw error;
      return formPage(context, next, error);
    }
  },
};

/** @throws {LeaseholdError} in words for whoever is signing in */
async function boardToken(token: string, deps: AppDeps): Promise<VerifiedToken> {
  if (token.length > MAX_SESSION_TOKEN_CHARS) {
    throw new LeaseholdError(
      'invalid_request',
      `The token is over ${MAX_SESSION_TOKEN_CHARS} characters, too long for a cookie.`,
    );
  }
  const verified = await verifyToken(token, deps);
  if (!verified.ok) throw new LeaseholdError('unauthenticated', verified.message);
  if (!verified.token.scopes.includes('read')) {
    throw new LeaseholdError('forbidden', 'The token lacks the scope "read": it may see nothing.');
  }
  return verified.token;
}

async function readForm(context: RouteContext): Promise<URLSearchParams> {
  if (!FORM_TYPE.test(context.req.header('content-type') ?? '')) {
    throw new LeaseholdError('unsupported_media_type', 'The body must be a form.');
  }
  return new URLSearchParams(new TextDecoder().decode(await readBody(context)));
}

/** A path of the board, or its first page: nobody is sent elsewhere. */
function pathWithin(context: RouteContext, next: string | undefined): string {
  const here = new URL(context.req.url);
  const url = next !== undefined && URL.canParse(next, here.href) ? new URL(next, here) : here;
  const inside = url.pathname === HOME || url.pathname.startsWith(`${HOME}/`);
  if (url.origin !== here.origin || !inside || url.pathname === PATH) return HOME;
  return `${url.pathname}${url.search}${url.hash}`;
}

function formPage(
  context: RouteContext,
  next: string | undefined,
  error?: LeaseholdError,
): Response | Promise<Response> {
  const status = error === undefined ? 200 : PROBLEMS[error.code].status;
  return boardPage(
    context,
    {
      title: 'Sign in · Leasehold',
      body: html`<main class="sign-in">
        <h1>Leasehold</h1>
        <form method="post" action="${PATH}">
          ${error === undefined ? raw('') : html`<p role="alert">${error.message}</p>`}
          <input type="hidden" name="next" value="${next ?? HOME}" />
          <label for="token">Token</label>
          <input
            id="token"
            name="token"
            type="password"
            required
            autofocus
            spellcheck="false"
            autocapitalize="off"
            autocomplete="current-password"
          />
          <p>A bearer token of this deployment with the scope <code>read</code>.</p>
          <button type="submit">Sign in</button>
        </form>
      </main>`,
    },
    status as ContentfulStatusCode,
  );
}
