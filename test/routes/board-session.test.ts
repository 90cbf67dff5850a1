import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { BOARD_ROUTES } from '../../functions/board/board-routes.ts';
import type { AppDeps } from '../../functions/deps.ts';
import { webClock } from '../../functions/web-ports.ts';
import { MAX_SESSION_SECONDS, MAX_SESSION_TOKEN_CHARS } from '../../shared/limits.ts';
import { createAppHarness, signToken } from './support/app-harness.ts';
import type { AppHarness } from './support/app-harness.ts';
import { ORIGIN, OWN_PAGE, boardCalls, codeOf, cookiesOf } from './support/board-calls.ts';

let app: AppHarness;
beforeAll(async () => {
  app = await createAppHarness();
});
afterAll(() => app.close());
const { send, signIn, session } = boardCalls(() => app);
const withFiles = (): AppDeps =>
  app.deps({ assets: { fetch: async () => new Response('', { status: 404 }) } });

describe('the pages of the board', () => {
  test('are open and empty; who is signed in is not', () => {
    const closed = BOARD_ROUTES.filter(({ access }) => access.kind !== 'public');
    expect(closed.map(({ path }) => path)).toEqual(['/board/session']);
    expect(BOARD_ROUTES.filter(({ database }) => database)).toEqual([]);
  });

  test.each(['/board', '/board/jobs?state=dead', '/board/queues/a%2Fb', '/board/sign-in'])(
    '%s runs scripts of this origin alone, in no frame, and makes no markup of texts',
    async (path) => {
      const response = await send(path, {}, { deps: withFiles() });
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
    // A platform without them has no board.
    expect((await send('/board/assets/board.js')).status).toBe(404);
    expect((await send('/board')).status).toBe(404);
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
    ['//evil.example/board/jobs', '/board'],
    ['https://evil.example/board/jobs', '/board'],
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

  test('of a token that ends after all time is told like any other', async () => {
    const token = await signToken('read', { expiresAt: 1e14 });
    const response = await send('/board/session', {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ expires_at: '+275760-09-13T00:00:00.000Z' });
  });

  test('nobody is 401, as on every route', async () => {
    for (const cookie of ['', '__Host-leasehold=', '__Host-leasehold=junk']) {
      expect((await send('/board/session', { headers: { cookie } })).status).toBe(401);
    }
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
