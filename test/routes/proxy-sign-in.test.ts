import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { createApp } from '../../functions/app.ts';
import type { AppDeps } from '../../functions/deps.ts';
import { createJwksCache } from '../../functions/middleware/jwks.ts';
import { parseConfig } from '../../shared/config.ts';
import { AUTH_SECRET, POKE_KEY, createAppHarness, signToken } from './support/app-harness.ts';
import type { AppHarness } from './support/app-harness.ts';
import { startKeyProvider } from './support/key-provider.ts';
import type { KeyProvider } from './support/key-provider.ts';

const HEADER = 'cf-access-jwt-assertion';
const AUDIENCE = 'the-board-of-this-deployment';
const OWN_PAGE = { 'sec-fetch-site': 'same-origin' };

let app: AppHarness;
let provider: KeyProvider;
beforeAll(async () => {
  app = await createAppHarness();
  provider = await startKeyProvider();
});
beforeEach(async () => {
  provider.removeKeys();
  provider.answerKeys();
  await provider.addKey('RS256');
});
afterAll(async () => {
  await provider.close();
  await app.close();
});

function behindProxy(settings: Readonly<Record<string, string>> = {}): AppDeps {
  const config = parseConfig({
    DATABASE_URL: app.http.connectionString,
    AUTH_SECRET,
    POKE_SECRETS: POKE_KEY,
    SIGN_IN_PROXY_HEADER: 'Cf-Access-Jwt-Assertion',
    SIGN_IN_PROXY_JWKS_URL: provider.url,
    SIGN_IN_PROXY_AUDIENCE: AUDIENCE,
    SIGN_IN_PROXY_SCOPES: 'read enqueue',
    ...settings,
  });
  return app.deps({ config, proxyKeys: createJwksCache() });
}

/** What a proxy would say of Anna. */
function said(claims: Readonly<Record<string, unknown>> = {}): Promise<string> {
  return provider.sign({ sub: 'u-17', email: 'anna@example.com', aud: [AUDIENCE], ...claims });
}

async function send(
  deps: AppDeps,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: string,
): Promise<Response> {
  const json = { 'content-type': 'application/json' };
  const init =
    body === undefined ? { headers } : { method: 'POST', headers: { ...json, ...headers }, body };
  return await createApp(deps).fetch(new Request(`https://leasehold.test${path}`, init));
}

async function sessionOf(deps: AppDeps, token: string): Promise<Response> {
  return await send(deps, '/board/session', { [HEADER]: token });
}

describe('S2.8 an identity-aware proxy', () => {
  test('says who is calling; what they may is set, whatever its token says', async () => {
    const token = await said({ scope: 'operate work', queues: ['nothing'] });
    const response = await sessionOf(behindProxy(), token);
    expect(await response.json()).toMatchObject({
      actor: 'anna@example.com',
      scopes: ['read', 'enqueue'],
      queues: null,
    });
    const paused = await send(behindProxy(), '/v1/queues/q/pause', { [HEADER]: token }, '{}');
    expect(paused.status).toBe(403);
  });

  test('may name the person by an id of its own', async () => {
    const token = await provider.sign({ sub: 'u-17', aud: AUDIENCE });
    expect(await (await sessionOf(behindProxy(), token)).json()).toMatchObject({ actor: 'u-17' });
    const nobody = await provider.sign({ sub: '', aud: AUDIENCE });
    expect((await sessionOf(behindProxy(), nobody)).status).toBe(401);
  });

  test.each([
    ['for another application', { aud: ['another'] }],
    ['for nobody in particular', { aud: undefined }],
  ])('a token %s is refused', async (_name, claims) => {
    expect((await sessionOf(behindProxy(), await said(claims))).status).toBe(401);
  });

  test('a token that has ended is refused', async () => {
    const ended = await provider.sign({ sub: 'u-17', aud: AUDIENCE }, -60);
    expect((await sessionOf(behindProxy(), ended)).status).toBe(401);
  });

  test('is held to its issuer where one is set', async () => {
    const deps = behindProxy({ SIGN_IN_PROXY_ISSUER: 'https://team.example' });
    expect((await sessionOf(deps, await said({ iss: 'https://evil.example' }))).status).toBe(401);
    expect((await sessionOf(deps, await said({ iss: 'https://team.example' }))).status).toBe(200);
  });

  test('cannot be played by a token of this deployment, nor its word serve as one', async () => {
    const own = await signToken('read operate', { claims: { aud: AUDIENCE } });
    expect((await sessionOf(behindProxy(), own)).status).toBe(401);
    const authorization = `Bearer ${await said({ scope: 'operate' })}`;
    expect((await send(behindProxy(), '/board/session', { authorization })).status).toBe(401);
  });

  test('counts for nothing where none is set', async () => {
    expect((await sessionOf(app.deps(), await said())).status).toBe(401);
  });

  test('gives way to a bearer token of the call, and comes before a cookie', async () => {
    const authorization = `Bearer ${await signToken('read', { subject: 'agent-7' })}`;
    const cookie = `__Host-leasehold=${await signToken('read', { subject: 'other' })}`;
    const said1 = { [HEADER]: await said() };
    const agent = await send(behindProxy(), '/board/session', { ...said1, authorization, cookie });
    expect(await agent.json()).toMatchObject({ actor: 'agent-7' });
    const anna = await send(behindProxy(), '/board/session', { ...said1, cookie });
    expect(await anna.json()).toMatchObject({ actor: 'anna@example.com' });
    const other = await send(behindProxy(), '/board/session', { cookie });
    expect(await other.json()).toMatchObject({ actor: 'other' });
  });

  test('speaks for whoever made the browser call, so changes need the proof of an own page', async () => {
    const deps = behindProxy();
    const [setCookie = ''] = (await sessionOf(deps, await said())).headers.getSetCookie();
    const csrf = /^leasehold_csrf=([\da-f]{64}); /.exec(setCookie)?.[1] ?? '';
    const job = JSON.stringify({ queue: 'q', type: 't', payload: 0 });
    const asks = async (
      headers: Readonly<Record<string, string>>,
      claims: Readonly<Record<string, unknown>> = {},
    ): Promise<number> =>
      (await send(deps, '/v1/jobs', { [HEADER]: await said(claims), ...headers }, job)).status;
    expect(await asks({})).toBe(403);
    expect(await asks(OWN_PAGE)).toBe(403);
    expect(await asks({ 'x-csrf-token': csrf, 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await asks({ 'x-csrf-token': csrf, ...OWN_PAGE }, { email: 'eve@example.com' })).toBe(
      403,
    );
    // The proxy's token is another one each time.
    expect(await asks({ 'x-csrf-token': csrf, ...OWN_PAGE }, { jti: 'next' })).toBe(201);
  });

  test('whose keys cannot be read is 503, and the others sign in all the same', async () => {
    provider.answer(500, 'oh no');
    const deps = behindProxy();
    const response = await sessionOf(deps, await said());
    expect(await response.json()).toMatchObject({ code: 'sign_in_unavailable' });
    const authorization = `Bearer ${await signToken('read')}`;
    expect((await send(deps, '/board/session', { authorization })).status).toBe(200);
  });
});
