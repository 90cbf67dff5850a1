import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { EVERY_ROUTE, ROUTES } from '../../functions/routes/index.ts';
import type { Route } from '../../functions/routes/route.ts';
import { webClock, webIds } from '../../functions/web-ports.ts';
import { MAX_OWNER_CHARS } from '../../shared/limits.ts';
import { SCOPES } from '../../shared/scopes.ts';
import { signWebhook } from '../../shared/webhook.ts';
import {
  AUTH_SECRET,
  POKE_KEY,
  SECOND_POKE_KEY,
  createAppHarness,
  signToken,
} from './support/app-harness.ts';
import type { Answer, AppHarness } from './support/app-harness.ts';

let app: AppHarness;
beforeAll(async () => {
  app = await createAppHarness();
});
afterAll(() => app.close());

const ID = '01900000-0000-7000-8000-000000000001';
const ALL = EVERY_ROUTE;
const CLOSED = ALL.filter(({ access }) => access.kind !== 'public').map((route) => ({
  method: route.method,
  path: route.path.replace(':id', ID).replaceAll(/:[a-z]+/g, 'x'),
  scope: 'scope' in route.access ? route.access.scope : undefined,
}));

function withToken(token: string): Promise<Answer> {
  return app.call('GET', `/v1/jobs/${ID}`, {
    scope: null,
    headers: { authorization: `Bearer ${token}` },
  });
}

describe('S2.8 actors are authenticated', () => {
  test('only health and the contract are open', () => {
    expect(ROUTES.filter(({ access }) => access.kind === 'public').map(({ path }) => path)).toEqual(
      ['/v1/health', '/openapi.json', '/docs'],
    );
  });

  test.each(CLOSED)('$method $path is 401 without a token', async ({ method, path }) => {
    const before = app.http.endpoint.requests;
    const { status, headers, body } = await app.call(method, path, { scope: null });
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toBe('Bearer realm="leasehold"');
    expect(body).toMatchObject({
      code: 'unauthenticated',
      type: 'urn:leasehold:problem:unauthenticated',
    });
    expect(app.http.endpoint.requests).toBe(before);
  });

  test.each(CLOSED.filter(({ scope }) => scope !== undefined))(
    '$method $path is 403 without the scope $scope',
    async ({ method, path, scope }) => {
      const others = [...SCOPES, 'readx'].filter((name) => name !== scope).join(' ');
      const { status, headers, body } = await app.call(method, path, { scope: others });
      expect(status).toBe(403);
      expect(body['detail']).toContain(`"${scope}"`);
      expect(headers.get('www-authenticate')).toContain(`scope="${scope}"`);
    },
  );

  test.each([
    [
      'an expired token',
      () => signToken('read', { expiresAt: Math.floor(webClock.now() / 1000) - 60 }),
    ],
    ['another secret', () => signToken('read', { secret: 'x'.repeat(32) })],
    ['a subject that cannot be an actor', () => signToken('read', { subject: 'a\u0000b' })],
    ['an empty subject', () => signToken('read', { subject: '' })],
    ['alg none', () => unsigned({ sub: 'a', scope: 'read', exp: 9_999_999_999 })],
    ['no token at all', () => 'nonsense'],
  ])('%s is 401', async (_name, make) => {
    const { status, headers } = await withToken(await make());
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toContain('error="invalid_token"');
  });

  test('a subject may be as long as the name of an actor', async () => {
    const longest = await signToken('read', { subject: 'a'.repeat(MAX_OWNER_CHARS) });
    expect((await withToken(longest)).status).toBe(404); // let in, and no job has the id
    const longer = await signToken('read', { subject: 'a'.repeat(MAX_OWNER_CHARS + 1) });
    expect((await withToken(longer)).status).toBe(401);
  });

  test('a token without an end is 401', async () => {
    const { SignJWT } = await import('jose');
    const endless = await new SignJWT({ scope: 'read' })
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject('a')
      .sign(new TextEncoder().encode(AUTH_SECRET));
    expect((await withToken(endless)).status).toBe(401);
  });
});

function unsigned(claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'none' })}.${part(claims)}.`;
}

test('a route that does not say who may call it lets nobody in', async () => {
  let entered = false;
  const open = {
    method: 'GET',
    path: '/v1/forgotten',
    database: false,
    handle: () => {
      entered = true;
      return new Response('secret');
    },
  } as unknown as Route;
  const request = await app.request('GET', '/v1/forgotten');
  const answer = await app.callApp({ routes: [open] }, request);
  expect(answer.status).toBe(403);
  expect(entered).toBe(false);
  expect(app.log.events).toContain('route_without_access');
});

describe('a signed poke', () => {
  const body = JSON.stringify({ queue: 'nobody-serves-this', depth: 0 });
  const post = (headers: Readonly<Record<string, string>>, sent = body): Promise<Answer> =>
    app.call('POST', '/v1/work', { scope: null, body: sent, headers });
  const signed = (key: string, ageMs = 0): Readonly<Record<string, string>> => ({
    ...signWebhook(key, { id: `poke_${webIds.uuidv7()}`, body, nowMs: webClock.now() - ageMs }),
  });

  test('by either live key is taken', async () => {
    for (const key of [POKE_KEY, SECOND_POKE_KEY]) {
      expect(await post(signed(key))).toMatchObject({
        status: 200,
        body: { outcome: 'no_handler' },
      });
    }
  });

  test.each([
    ['by another key', () => post(signed(`whsec_${btoa('x'.repeat(32))}`))],
    ['for another body', () => post(signed(POKE_KEY), body.replace('nobody', 'anybody'))],
    ['of an hour ago', () => post(signed(POKE_KEY, 3_600_000))],
    ['of the next hour', () => post(signed(POKE_KEY, -3_600_000))],
  ])('%s is 401', async (_name, send) => {
    expect(await send()).toMatchObject({ status: 401, body: { code: 'bad_signature' } });
  });

  test('opens no other route', async () => {
    const { status } = await app.call('POST', '/v1/jobs', {
      scope: null,
      body,
      headers: signed(POKE_KEY),
    });
    expect(status).toBe(401);
  });

  test('needs no signature where a token has the scope work', async () => {
    const answer = await app.call('POST', '/v1/work', { scope: 'work', body: { queue: 'nobody' } });
    expect(answer).toMatchObject({ status: 200, body: { outcome: 'no_handler' } });
  });
});
