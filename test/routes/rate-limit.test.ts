import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { RateLimitedCall, RateVerdict } from '../../functions/rate-limit.ts';
import { webClock } from '../../functions/web-ports.ts';
import { signWebhook } from '../../shared/webhook.ts';
import { POKE_KEY, createAppHarness } from './support/app-harness.ts';
import type { Answer, AppHarness, CallOptions } from './support/app-harness.ts';

let app: AppHarness;
beforeAll(async () => {
  app = await createAppHarness();
});
afterAll(() => app.close());

async function call(
  check: (call: RateLimitedCall) => Promise<RateVerdict>,
  method: string,
  path: string,
  options?: CallOptions,
): Promise<Answer> {
  const deps = app.deps({ rateLimit: { check } });
  return await app.callApp({ deps }, await app.request(method, path, options));
}

describe('the rate limit of a deployment', () => {
  test('answers 429 with Retry-After, before the database is asked', async () => {
    const before = app.http.endpoint.requests;
    const deny = async (): Promise<RateVerdict> => ({ outcome: 'deny', retryAfterSeconds: 2.2 });
    const refused = await call(deny, 'GET', '/v1/jobs');
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(refused.headers.get('retry-after')).toBe('3');
    expect(app.http.endpoint.requests).toBe(before);
  });

  test('hears who calls what, by the pattern of the path', async () => {
    const calls: RateLimitedCall[] = [];
    const count = async (one: RateLimitedCall): Promise<RateVerdict> => {
      calls.push(one);
      return { outcome: 'allow' };
    };
    await call(count, 'GET', '/v1/jobs/01900000-0000-7000-8000-000000000001', { actor: 'agent-7' });
    expect(calls).toEqual([{ actor: 'agent-7', method: 'GET', route: '/v1/jobs/:id' }]);
  });

  test('is not asked for health, pokes and whoever is not signed in', async () => {
    const never = async (): Promise<RateVerdict> => {
      throw new Error('was asked');
    };
    const body = JSON.stringify({ queue: 'nobody', depth: 0 });
    const signed = signWebhook(POKE_KEY, { id: 'poke_1', body, nowMs: webClock.now() });
    expect((await call(never, 'GET', '/v1/health', { scope: null })).status).toBe(200);
    expect((await call(never, 'GET', '/v1/jobs', { scope: null })).status).toBe(401);
    const poke = { scope: null, body, headers: { ...signed } };
    expect((await call(never, 'POST', '/v1/work', poke)).status).toBe(200);
    expect(app.log.events).not.toContain('rate_limit_failed');
  });

  test('that fails lets the call through and says so in the log', async () => {
    const broken = async (): Promise<RateVerdict> => {
      throw new Error('limiter is down');
    };
    expect((await call(broken, 'GET', '/v1/jobs')).status).toBe(200);
    expect(app.log.events).toContain('rate_limit_failed');
    expect(app.log.text).not.toContain('limiter is down');
  });
});
