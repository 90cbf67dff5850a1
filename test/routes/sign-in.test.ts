import { SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import type { AppDeps } from '../../functions/deps.ts';
import { createJwksCache } from '../../functions/middleware/jwks.ts';
import { webClock, webIds, webTimer } from '../../functions/web-ports.ts';
import { JWKS_COOLDOWN_MS, JWKS_MAX_AGE_MS, JWKS_MAX_STALE_MS } from '../../shared/limits.ts';
import { parseConfig } from '../../shared/config.ts';
import { AUTH_SECRET, POKE_KEY, createAppHarness, signToken } from './support/app-harness.ts';
import type { Answer, AppHarness } from './support/app-harness.ts';
import { startKeyProvider } from './support/key-provider.ts';
import type { KeyProvider } from './support/key-provider.ts';

let app: AppHarness;
let provider: KeyProvider;
beforeAll(async () => {
  app = await createAppHarness();
  provider = await startKeyProvider();
});
beforeEach(async () => {
  provider.removeKeys();
  provider.answerKeys();
  await provider.addKey('ES256');
});
afterAll(async () => {
  await provider.close();
  await app.close();
});

const MISSING = `/v1/jobs/${webIds.uuidv7()}`;

function depsWith(
  settings: Readonly<Record<string, string>>,
  overrides: Partial<AppDeps> = {},
): AppDeps {
  const config = parseConfig({
    DATABASE_URL: app.http.connectionString,
    POKE_SECRETS: POKE_KEY,
    ...settings,
  });
  return app.deps({ config, jwks: createJwksCache(), ...overrides });
}

/** 404 means that the token was taken: the job is not there. */
async function call(deps: AppDeps, token: string): Promise<Answer> {
  const authorization = `Bearer ${token}`;
  const request = await app.request('GET', MISSING, { scope: null, headers: { authorization } });
  return await app.callApp({ deps }, request);
}

describe('S2.8 a token signed by the sign-in provider', () => {
  test.each(['ES256', 'RS256', 'EdDSA', 'PS256'])('with %s is taken', async (algorithm) => {
    await provider.addKey(algorithm);
    const deps = depsWith({ JWKS_URL: provider.url });
    expect((await call(deps, await provider.sign({}))).status).toBe(404);
    expect((await call(deps, await provider.sign({ scope: 'work' }))).status).toBe(403);
  });

  test('names the actor', async () => {
    const deps = depsWith({ JWKS_URL: provider.url });
    const token = await provider.sign({ sub: 'agent-7', scope: 'enqueue' });
    const request = await app.request('POST', '/v1/jobs', {
      scope: null,
      headers: { authorization: `Bearer ${token}` },
      body: { queue: 'q', type: 't', payload: 0 },
    });
    const { body } = await app.callApp({ deps }, request);
    const job = await app.call('GET', `/v1/jobs/${String(body['id'])}`);
    expect(job.body['created_by']).toBe('agent-7');
  });

  test('by a key that it does not publish is 401', async () => {
    const deps = depsWith({ JWKS_URL: provider.url });
    const token = await provider.sign({});
    provider.removeKeys();
    await provider.addKey('ES256');
    expect((await call(deps, token)).status).toBe(401);
  });

  test('a public key never serves as a shared secret', async () => {
    const deps = depsWith({ JWKS_URL: provider.url });
    const forged = await new SignJWT({ scope: 'read' })
      .setProtectedHeader({ alg: 'HS256', kid: 'key-1' })
      .setSubject('thief')
      .setExpirationTime('5 minutes')
      .sign(new TextEncoder().encode(JSON.stringify(await provider.publicKey())));
    expect((await call(deps, forged)).status).toBe(401);
    const shared = depsWith({ JWKS_URL: provider.url, AUTH_SECRET });
    expect((await call(shared, forged)).status).toBe(401);
  });

  test('stands beside the shared secret where both are set, and not where one is', async () => {
    const both = depsWith({ JWKS_URL: provider.url, AUTH_SECRET });
    const [own, theirs] = [await signToken('read'), await provider.sign({})];
    expect((await call(both, own)).status).toBe(404);
    expect((await call(both, theirs)).status).toBe(404);
    expect((await call(depsWith({ JWKS_URL: provider.url }), own)).status).toBe(401);
    expect((await call(depsWith({ AUTH_SECRET }), theirs)).status).toBe(401);
  });
});

describe('issuer and audience', () => {
  const settings = { AUTH_SECRET, AUTH_ISSUER: 'https://login.example', AUTH_AUDIENCE: 'jobs' };

  test.each([
    [{ iss: 'https://login.example', aud: 'jobs' }, 404],
    [{ iss: 'https://login.example', aud: ['other', 'jobs'] }, 404],
    [{ iss: 'https://login.example' }, 401],
    [{ iss: 'https://evil.example', aud: 'jobs' }, 401],
    [{ iss: 'https://login.example', aud: 'other' }, 401],
    [{}, 401],
  ])('%j is %i', async (claims, status) => {
    const token = await signToken('read', { claims });
    expect((await call(depsWith(settings), token)).status).toBe(status);
    expect((await call(depsWith({ AUTH_SECRET }), token)).status).toBe(404);
  });
});

describe('claims that cannot be read close the door', () => {
  test.each([
    ['queues that are a text', { queues: 'emails' }],
    ['queues with a number', { queues: [1] }],
    ['queues with a name that cannot be', { queues: ['..'] }],
    [
      'more queues than a token may have',
      { queues: Array.from({ length: 101 }, (_, n) => `q${n}`) },
    ],
    ['queues that are null', { queues: null }],
  ])('%s: 401', async (_name, claims) => {
    expect((await call(app.deps(), await signToken('read', { claims }))).status).toBe(401);
  });

  test('a token of 100 queues is read, one of over 8,192 characters is not', async () => {
    const queues = Array.from({ length: 100 }, (_, n) => `q${n}`);
    expect((await call(app.deps(), await signToken('read', { queues }))).status).toBe(404);
    const long = await signToken('read', { claims: { pad: 'x'.repeat(8192) } });
    expect((await call(app.deps(), long)).status).toBe(401);
  });

  test('a scope that is no text allows nothing', async () => {
    const token = await signToken('read', { claims: { scope: ['read'] } });
    expect((await call(app.deps(), token)).status).toBe(403);
  });
});

describe('the keys of the provider', () => {
  /** A clock that a test moves; the provider is asked over a real socket. */
  function movable(): { deps: AppDeps; pass: (milliseconds: number) => void } {
    let passed = 0;
    const clock = { now: () => webClock.now() + passed };
    return {
      deps: depsWith({ JWKS_URL: provider.url }, { clock }),
      pass: (milliseconds) => {
        passed += milliseconds;
      },
    };
  }

  test('are asked for once while they are fresh', async () => {
    const deps = depsWith({ JWKS_URL: provider.url });
    const before = provider.requests;
    for (let at = 0; at < 5; at += 1) await call(deps, await provider.sign({}));
    expect(provider.requests).toBe(before + 1);
  });

  test('are asked for anew when a token names one that is not among them, but not all day', async () => {
    const { deps, pass } = movable();
    await call(deps, await provider.sign({}));
    const before = provider.requests;
    await provider.addKey('ES256');
    const token = await provider.sign({});
    expect((await call(deps, token)).status).toBe(401);
    expect(provider.requests).toBe(before);
    pass(JWKS_COOLDOWN_MS);
    expect((await call(deps, token)).status).toBe(404);
    await provider.addKey('ES256');
    const next = await provider.sign({});
    for (let at = 0; at < 5; at += 1) expect((await call(deps, next)).status).toBe(401);
    expect(provider.requests).toBe(before + 1);
  });

  test('count for an hour while the provider is away, and no longer', async () => {
    const { deps, pass } = movable();
    const token = await provider.sign({}, 3 * 60 * 60);
    expect((await call(deps, token)).status).toBe(404);
    provider.answer(500, 'oh no');
    const before = provider.requests;
    pass(JWKS_MAX_AGE_MS);
    for (let at = 0; at < 5; at += 1) expect((await call(deps, token)).status).toBe(404);
    expect(provider.requests).toBe(before + 1);
    pass(JWKS_MAX_STALE_MS);
    expect((await call(deps, token)).status).toBe(503);
    provider.answerKeys();
    expect((await call(deps, token)).status).toBe(404);
  });

  test.each([
    ['an error', 500, '{"keys":[]}'],
    ['a redirect', 302, ''],
    ['no JSON', 200, '<html>'],
    ['no key set', 200, '[]'],
    ['a list of no keys', 200, '{"keys":[1]}'],
    ['more than 64 KiB', 200, `{"keys":[],"pad":"${'x'.repeat(65_536)}"}`],
    ['more than 100 keys', 200, JSON.stringify({ keys: Array(101).fill({ kty: 'EC' }) })],
  ])('%s is 503 with Retry-After, and the token is not judged', async (_name, status, body) => {
    const token = await provider.sign({});
    provider.answer(status, body);
    const answer = await call(depsWith({ JWKS_URL: provider.url }), token);
    expect(answer).toMatchObject({ status: 503, body: { code: 'sign_in_unavailable' } });
    expect(answer.headers.get('retry-after')).toBe('5');
    provider.answerKeys();
  });

  test('a provider that does not answer is given up on in time', async () => {
    const hanging: AppDeps['timer'] = {
      sleep: (milliseconds, signal) => webTimer.sleep(Math.min(milliseconds, 20), signal),
    };
    const deps = depsWith({ JWKS_URL: 'http://127.0.0.1:9/keys' }, { timer: hanging });
    expect((await call(deps, await provider.sign({}))).status).toBe(503);
  });

  test('case K1 50 requests into one isolate, the first cancelled midway, share no pending promise', async () => {
    const deps = depsWith({ JWKS_URL: provider.url });
    const authorization = `Bearer ${await provider.sign({})}`;
    const gone = new AbortController();
    const plain = await app.request('GET', MISSING, { scope: null, headers: { authorization } });
    const first = app.callApp({ deps }, new Request(plain, { signal: gone.signal }));
    gone.abort();
    const others = Array.from({ length: 49 }, async () =>
      app.callApp(
        { deps },
        await app.request('GET', MISSING, { scope: null, headers: { authorization } }),
      ),
    );
    const answers = await Promise.all([first, ...others]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
    expect(JSON.stringify(deps.jwks)).toContain('"fetchedAtMs"');
    expect(Object.values(deps.jwks).some((value) => value instanceof Promise)).toBe(false);
  });
});
