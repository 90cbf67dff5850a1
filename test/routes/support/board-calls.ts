import { createApp } from '../../../functions/app.ts';
import type { AppDeps } from '../../../functions/deps.ts';
import { signToken } from './app-harness.ts';
import type { AppHarness } from './app-harness.ts';

export const ORIGIN = 'https://leasehold.test';
/** What a browser adds to a call of a page of the same origin. */
export const OWN_PAGE = { 'sec-fetch-site': 'same-origin' };

interface Where {
  readonly origin?: string;
  readonly deps?: AppDeps;
}

/** What a browser keeps of a session, as it sends it. */
export interface BrowserSession {
  readonly cookie: string;
  readonly csrf: string;
}

/** Calls as browsers make them. */
export interface BoardCalls {
  send(path: string, init?: RequestInit, where?: Where): Promise<Response>;
  signIn(
    form: Readonly<Record<string, string>>,
    how?: { readonly headers?: Readonly<Record<string, string>>; readonly origin?: string },
  ): Promise<Response>;
  session(scope?: string, subject?: string): Promise<BrowserSession>;
}

/** @param app asked at each call: it is made before the tests, after the file is read */
export function boardCalls(app: () => AppHarness): BoardCalls {
  const calls: BoardCalls = {
    send: async (path, init = {}, { origin = ORIGIN, deps = app().deps() } = {}) =>
      await createApp(deps).fetch(new Request(`${origin}${path}`, init)),
    signIn: async (form, { headers = OWN_PAGE, ...where } = {}) => {
      const body = new URLSearchParams(form);
      return await calls.send('/board/sign-in', { method: 'POST', headers, body }, where);
    },
    session: async (scope = 'read enqueue', subject = 'anna') => {
      const token = await signToken(scope, { subject });
      const cookies = cookiesOf(await calls.signIn({ token }));
      return {
        cookie: Object.entries(cookies)
          .map((pair) => pair.join('='))
          .join('; '),
        csrf: cookies['leasehold_csrf'] ?? '',
      };
    },
  };
  return calls;
}

/** What a browser keeps of an answer. */
export function cookiesOf(response: Response): Record<string, string> {
  return Object.fromEntries(
    response.headers.getSetCookie().map((one) => {
      const [pair = ''] = one.split(';');
      const at = pair.indexOf('=');
      return [pair.slice(0, at), decodeURIComponent(pair.slice(at + 1))];
    }),
  );
}

export async function codeOf(response: Response): Promise<unknown> {
  return ((await response.json()) as { readonly code?: string }).code;
}
