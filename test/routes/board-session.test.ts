import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createApp } from '../../functions/app.ts';
import { BOARD_ROUTES } from '../../functions/board/board-routes.ts';
import type { AppDeps } from '../../functions/deps.ts';
import { webClock } from '../../functions/web-ports.ts';
import { parseConfig } from '../../shared/config.ts';
import { MAX_SESSION_SECONDS, MAX_SESSION_TOKEN_CHARS } from '../../shared/limits.ts';
import {
  AUTH_SECRET,
  POKE_KEY,
  SECOND_POKE_KEY,
  createAppHarness,
  signToken,
} from './support/app-harness.ts';
import type { AppHarness } from './support/app-harness.ts';

const ORIGIN = 'https://leasehold.test';
const OWN_PAGE = { 'sec-fetch-site': 'same-origin' };
const JOB = JSON.stringify({ queue: 'q', type: 't', payload: 0 });

let app: AppHarness;
beforeAll(async () => {
  app = await createAppHarness();
});
afterAll(() => app.close());

async function send(
  path: string,
  init: RequestInit = {},
  { origin = ORIGIN, deps = app.deps() }: { origin?: string; deps?: AppDeps } = {},
): Promise<Response> {
  return await createApp(deps).fetch(new Request(`${origin}${path}`, init));
}

function signIn(
  form: Readonly<Record<string, string>>,
  { headers = OWN_PAGE, ...where }: { headers?: Record<string, string>; origin?: string } = {},
): Promise<Response> {
  const body = new URLSearchParams(form);
  return send('/board/sign-in', { method: 'POST', headers, body }, where);
}

/** What a browser keeps of an answer. */
function cookiesOf(response: Response): Record<string, string> {
  return Object.fromEntries(
    response.headers.getSetCookie().map((one) => {
      const [pair = ''] = one.split(';');
      const at = pair.indexOf('=');
      return [pair.slice(0, at), decodeURIComponent(pair.slice(at + 1))];
    }),
  );
}

interface Session {
  readonly cookie: string;
  readonly csrf: string;
}

async function session(scope = 'read enqueue', subject = 'anna'): Promise<Session> {
  const cookies = cookiesOf(await signIn({ token: await signToken(scope, { subject }) }));
  return {
    cookie: Object.entries(cookies)
      .map((pair) => pair.join('='))
      .join('; '),
    csrf: cookies['leasehold_csrf'] ?? '',
  };
}

async function codeOf(response: Response): Promise<unknown> {
  return ((await response.json()) as { readonly code?: string }).code;
}

function enqueue(headers: Readonly<Record<string, string>>, deps?: AppDeps): Promise<Response> {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JOB,
  };
  return send('/v1/jobs', init, deps === undefined ? {} : { deps });
}

describe('the pages of the board', () => {
  test('are open and empty; who is signed in is not', () => {
    const closed = BOARD_ROUTES.filter(({ access }) => access.kind !== 'public');
    expect(closed.map(({ path }) => path)).toEqual(['/board/session']);
    expect(BOARD_ROUTES.filter(({ database }) => database)).toEqual([]);
  });

  test.each(['/board', '/board/jobs?state=dead', '/board/queues/a%2Fb', '/board/sign-in'])(
    '%s runs scripts of this origin alone, in no frame, and makes no markup of texts',
    async (path) => {
      const response = await send(path);
      expect(response.status).toBe(200);
      const policy = (response.headers.get('content-security-policy') ?? '').split('; ');
      expect(policy).toEqual(
        expect.arrayContaining([
          "default-src 'none'",
          "script-src 'self'",
          "style-src 'self'",
          "base-uri 'none'",
          "form-action 'self'",
          "frame-ancestors 'none'",
          "require-trusted-types-for 'script'",
        ]),
      );
      expect(policy.join()).not.toMatch(/unsafe|\*|https?:/);
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      const text = await response.text();
      expect(text).not.toMatch(/<script(?![^>]* src=)|<style| on\w+=| style=/);
    },
  );

  test('load their files, which a browser may keep as long as they are the same', async () => {
    const asked: [string, Record<string, string>][] = [];
    const deps = app.deps({
      assets: {
        fetch: async (name, headers) => {
          asked.push([name, Object.fromEntries(headers)]);
          const kept = headers.get('if-none-match') === '"1"';
          const init = { status: kept ? 304 : 200, headers: { etag: '"1"', 'x-platform': 'y' } };
          return new Response(kept ? null : 'code', init);
        },
      },
    });
    const first = await send('/board/assets/board.js', { headers: { cookie: 'a=b' } }, { deps });
    expect(Object.fromEntries(first.headers)).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'no-cache',
      etag: '"1"',
      'x-content-type-options': 'nosniff',
    });
    expect(first.headers.get('x-platform')).toBeNull();
    const headers = { 'if-none-match': '"1"' };
    const again = await send('/board/assets/board.css', { headers }, { deps });
    expect(again.status).toBe(304);
    expect(asked).toEqual([
      ['board.js', {}],
      ['board.css', headers],
    ]);
    for (const name of ['other.js', '__proto__', '..%2fboard.js', 'board.js%00']) {
      expect((await send(`/board/assets/${name}`, {}, { deps })).status).toBe(404);
    }
    expect(asked).toHaveLength(2);
    expect((await send('/board/assets/board.js')).status).toBe(404); // a platform without them
  });
});

describe('S2.8 signing in', () => {
  test('exchanges a token for a cookie that no script and no other site can use', async () => {
    const token = await signToken('read', { subject: 'anna', queues: ['emails'] });
    const response = await signIn({ token: `  Bearer ${token}\n` });
    expect([response.status, response.headers.get('location')]).toEqual([303, '/board']);
    const [kept, csrf] = response.headers.getSetCookie();
    expect(kept).toMatch(
      /^__Host-leasehold=[\w.-]+; Max-Age=(?:299|300); Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
    expect(csrf).toMatch(
      /^leasehold_csrf=[\da-f]{64}; Max-Age=(?:299|300); Path=\/; Secure; SameSite=Strict$/,
    );
    const cookie = kept?.split(';')[0] ?? '';
    const who = await send('/board/session', { headers: { cookie } });
    expect(await who.json()).toEqual({
      actor: 'anna',
      scopes: ['read'],
      queues: ['emails'],
      expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as unknown,
    });
    // The page's own proof is given anew with it.
    expect(cookiesOf(who)['leasehold_csrf']).toBe(cookiesOf(response)['leasehold_csrf']);
  });

  test('outlasts neither the token nor the longest session', async () => {
    const expiresAt = Math.floor(webClock.now() / 1000) + MAX_SESSION_SECONDS + 1000;
    const response = await signIn({ token: await signToken('read', { expiresAt }) });
    expect(response.headers.getSetCookie()[0]).toContain(`Max-Age=${MAX_SESSION_SECONDS};`);
  });

  test.each([
    ['/board/jobs?state=dead#top', '/board/jobs?state=dead#top'],
    ['/board', '/board'],
    ['/boardroom', '/board'],
    ['/v1/jobs', '/board'],
    ['/board/../v1/jobs', '/board'],
    ['//evil.example/board', '/board'],
    ['https://evil.example/board', '/board'],
    ['\\\\evil.example/board', '/board'],
    ['/board/sign-in', '/board'],
    ['javascript:alert(1)', '/board'],
    ['http://[', '/board'],
  ])('goes on from %s to %s', async (next, location) => {
    const response = await signIn({ token: await signToken('read'), next });
    expect([response.status, response.headers.get('location')]).toEqual([303, location]);
  });

  test.each([
    ['nothing', '', 401],
    ['no token of ours', 'not-a-token', 401],
    ['an expired one', undefined, 401],
    ['one that may not read', 'work operate', 403],
  ])('%s is refused in words, and the page keeps no token', async (name, given, status) => {
    const token =
      name === 'an expired one'
        ? await signToken('read', { expiresAt: 1 })
        : status === 403
          ? await signToken(given ?? '')
          : (given ?? '');
    const response = await signIn({ token, next: '"><script>alert(1)</script>' });
    expect(response.status).toBe(status);
    expect(response.headers.getSetCookie()).toEqual([]);
    const text = await response.text();
    expect(text).toContain('role="alert"');
    expect(text).not.toContain('<script>');
    expect(text).toContain('&quot;&gt;&lt;script&gt;');
    expect(text).not.toContain(token === '' ? 'value="Bearer' : token);
  });

  test(`takes a token of ${MAX_SESSION_TOKEN_CHARS} characters and no longer one`, async () => {
    const exact = await tokenOf(MAX_SESSION_TOKEN_CHARS);
    expect((await signIn({ token: exact })).status).toBe(303);
    const response = await signIn({ token: await tokenOf(MAX_SESSION_TOKEN_CHARS + 1) });
    expect(response.status).toBe(400);
    expect(response.headers.getSetCookie()).toEqual([]);
  });

  test('from the page of another site is refused: nobody is signed in as somebody else', async () => {
    const token = await signToken('read');
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      {},
    ]) {
      const response = await signIn({ token }, { headers });
      expect(response.status).toBe(403);
      expect(response.headers.getSetCookie()).toEqual([]);
    }
    expect((await signIn({ token }, { headers: { origin: ORIGIN } })).status).toBe(303);
  });

  test('over plain HTTP is for this machine alone', async () => {
    const token = await signToken('read');
    const local = await signIn({ token }, { origin: 'http://127.0.0.1:8787' });
    expect(local.status).toBe(303);
    expect(local.headers.getSetCookie()[0]).toMatch(/^leasehold_session=.*HttpOnly; SameSite/);
    const headers = { cookie: `leasehold_session=${token}` };
    const where = { origin: 'http://localhost:8787' };
    expect((await send('/board/session', { headers }, where)).status).toBe(200);
    expect((await signIn({ token }, { origin: 'http://jobs.example' })).status).toBe(400);
    // A neighbour under the same domain could set that one.
    expect((await send('/board/session', { headers })).status).toBe(401);
    expect(
      (await send('/board/session', { headers }, { origin: 'http://jobs.example' })).status,
    ).toBe(401);
  });

  test('takes a form, and no JSON', async () => {
    const init = { method: 'POST', headers: { ...OWN_PAGE, 'content-type': 'application/json' } };
    expect((await send('/board/sign-in', { ...init, body: '{}' })).status).toBe(415);
  });

  test('ends when the person says so', async () => {
    const { cookie } = await session();
    const init = { method: 'POST', headers: { cookie, 'sec-fetch-site': 'cross-site' } };
    expect(await codeOf(await send('/board/sign-out', init))).toBe('csrf_refused');
    const headers = { cookie, ...OWN_PAGE };
    const response = await send('/board/sign-out', { method: 'POST', headers });
    expect([response.status, response.headers.get('location')]).toEqual([303, '/board/sign-in']);
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-leasehold=; Max-Age=0; Path=\/; Secure/),
      expect.stringMatching(/^leasehold_csrf=; Max-Age=0; Path=\/; Secure/),
    ]);
  });

  test('nobody is 401, as on every route', async () => {
    for (const cookie of ['', '__Host-leasehold=', '__Host-leasehold=junk']) {
      expect((await send('/board/session', { headers: { cookie } })).status).toBe(401);
    }
  });
});

describe('S2.8 a session on the routes of the API', () => {
  test('is the token that it holds: the same actor, the same scopes', async () => {
    const { cookie, csrf } = await session('enqueue read');
    const created = await enqueue({ cookie, 'x-csrf-token': csrf, ...OWN_PAGE });
    expect(created.status).toBe(201);
    const { id } = (await created.json()) as { readonly id: string };
    const read = await send(`/v1/jobs/${id}`, { headers: { cookie } });
    expect(await read.json()).toMatchObject({ created_by: 'anna' });
    expect((await send('/v1/ready', { headers: { cookie } })).status).toBe(200);
    const paused = await send('/v1/queues/q/pause', {
      method: 'POST',
      headers: { cookie, 'x-csrf-token': csrf, ...OWN_PAGE },
    });
    expect(await codeOf(paused)).toBe('forbidden');
  });

  test('changes nothing without the proof that a page of this origin asks', async () => {
    const [mine, theirs] = [await session(), await session('read enqueue', 'eve')];
    const { cookie, csrf } = mine;
    for (const headers of [
      {},
      OWN_PAGE,
      { ...OWN_PAGE, 'x-csrf-token': '' },
      { ...OWN_PAGE, 'x-csrf-token': 'x'.repeat(64) },
      { ...OWN_PAGE, 'x-csrf-token': theirs.csrf },
      { 'x-csrf-token': csrf },
      { 'x-csrf-token': csrf, 'sec-fetch-site': 'cross-site' },
      { 'x-csrf-token': csrf, 'sec-fetch-site': 'same-site' },
      { 'x-csrf-token': csrf, 'sec-fetch-site': 'none' },
      { 'x-csrf-token': csrf, origin: 'https://evil.example' },
      { 'x-csrf-token': csrf, 'sec-fetch-site': 'cross-site', origin: ORIGIN },
    ]) {
      const response = await enqueue({ cookie, ...headers });
      expect([response.status, await codeOf(response)]).toEqual([403, 'csrf_refused']);
    }
    const old = await enqueue({ cookie, 'x-csrf-token': csrf, origin: ORIGIN });
    expect(old.status).toBe(201);
  });

  test('a cookie that somebody planted beside the session proves nothing', async () => {
    const { cookie } = await session();
    const planted = 'f'.repeat(64);
    const swapped = cookie.replace(/leasehold_csrf=\w+/, `leasehold_csrf=${planted}`);
    const response = await enqueue({ cookie: swapped, 'x-csrf-token': planted, ...OWN_PAGE });
    expect(await codeOf(response)).toBe('csrf_refused');
  });

  test('a bearer token needs no such proof, and a bad one is not made up for', async () => {
    const { cookie, csrf } = await session();
    const bearer = { authorization: `Bearer ${await signToken('enqueue')}` };
    expect((await enqueue({ ...bearer, cookie, 'sec-fetch-site': 'cross-site' })).status).toBe(201);
    for (const authorization of ['Bearer junk', 'Basic YTpi', 'Bearer']) {
      const response = await enqueue({ authorization, cookie, 'x-csrf-token': csrf, ...OWN_PAGE });
      expect(response.status).toBe(401);
    }
  });

  test('goes on while the keys are changed', async () => {
    const { cookie, csrf } = await session();
    const rotated = (keys: string): AppDeps =>
      app.deps({
        config: parseConfig({
          DATABASE_URL: app.http.connectionString,
          AUTH_SECRET,
          POKE_SECRETS: keys,
        }),
      });
    const headers = { cookie, 'x-csrf-token': csrf, ...OWN_PAGE };
    expect((await enqueue(headers, rotated(`${SECOND_POKE_KEY} ${POKE_KEY}`))).status).toBe(201);
    const ended = await enqueue(headers, rotated(SECOND_POKE_KEY));
    expect(await codeOf(ended)).toBe('csrf_refused');
  });
});

/** A token of exactly so many characters. */
async function tokenOf(chars: number): Promise<string> {
  const short = await signToken('read', { claims: { pad: '' } });
  for (let pad = Math.floor(((chars - short.length) * 3) / 4) - 2; ; pad += 1) {
    const token = await signToken('read', { claims: { pad: 'x'.repeat(pad) } });
    if (token.length === chars) return token;
    if (token.length > chars) throw new Error(`No token has ${chars} characters.`);
  }
}
