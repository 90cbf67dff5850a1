import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { PROBLEMS } from '../../functions/middleware/problem.ts';
import type { Route } from '../../functions/routes/route.ts';
import { ERROR_CODES, LeaseholdError } from '../../shared/errors.ts';
import { createAppHarness } from './support/app-harness.ts';
import type { AppHarness } from './support/app-harness.ts';

let app: AppHarness;
beforeAll(async () => {
  app = await createAppHarness();
});
afterAll(() => app.close());

function failing(thrown: unknown): Route {
  return {
    method: 'GET',
    path: '/v1/fails',
    access: { kind: 'public' },
    database: false,
    handle: () => {
      throw thrown;
    },
  };
}

describe('every error is a problem document', () => {
  test.each([...ERROR_CODES])('%s', async (code) => {
    const cause = new Error('cause-text');
    const error = new LeaseholdError(code, 'What went wrong.', {
      cause,
      problems: [{ path: 'a', message: 'is wrong' }],
    });
    const request = await app.request('GET', '/v1/fails', { headers: { 'x-request-id': 'req-1' } });
    const { status, headers, body } = await app.callApp({ routes: [failing(error)] }, request);
    expect(status).toBe(PROBLEMS[code].status);
    expect(headers.get('content-type')).toBe('application/problem+json');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-request-id')).toBe('req-1');
    expect(headers.has('retry-after')).toBe(status === 429 || status === 503);
    expect(body).toMatchObject({
      type: `urn:leasehold:problem:${code}`,
      title: PROBLEMS[code].title,
      status,
      code,
      request_id: 'req-1',
    });
    expect(JSON.stringify(body)).not.toContain('cause-text');
  });

  test.each([
    ['an Error', new Error('secret-text postgres://u:p@h/d')],
    ['a string', 'secret-text'],
    ['null', null],
  ])('%s that nobody expected says nothing of itself', async (_name, thrown) => {
    const { status, body } = await app.callApp(
      { routes: [failing(thrown)] },
      await app.request('GET', '/v1/fails'),
    );
    expect(status).toBe(500);
    expect(body['code']).toBe('internal_error');
    expect(JSON.stringify(body) + app.log.text).not.toContain('secret-text');
  });

  test('a Retry-After of the failure is handed on', async () => {
    const error = new LeaseholdError('database_unavailable', 'Away.', { retryAfterSeconds: 17 });
    const answer = await app.callApp(
      { routes: [failing(error)] },
      await app.request('GET', '/v1/fails'),
    );
    expect(answer.headers.get('retry-after')).toBe('17');
  });

  test('settings that are wrong are not told to callers', async () => {
    const error = new LeaseholdError('config_invalid', 'AUTH_SECRET is short', {
      problems: [{ path: 'AUTH_SECRET', message: 'is short' }],
    });
    const { body } = await app.callApp(
      { routes: [failing(error)] },
      await app.request('GET', '/v1/fails'),
    );
    expect(JSON.stringify(body)).not.toContain('AUTH_SECRET');
  });
});

test.each([
  ['GET', '/nothing', 404, null],
  ['GET', '/v1', 404, null],
  ['GET', '/v1/jobs/a/b', 404, null],
  ['DELETE', '/v1/jobs', 405, 'POST, GET, HEAD'],
  ['GET', '/v1/jobs/batch', 405, 'POST'],
  ['GET', '/v1/work', 405, 'POST'],
  ['POST', '/v1/health', 405, 'GET, HEAD'],
  ['OPTIONS', '/v1/jobs/01900000-0000-7000-8000-000000000001', 405, 'GET, HEAD, PATCH'],
])('%s %s is %i', async (method, path, status, allow) => {
  const answer = await app.call(method, path, { scope: null });
  expect(answer.status).toBe(status);
  expect(answer.headers.get('allow')).toBe(allow);
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
});

test.each(['a b', 'x'.repeat(65), 'a"b'])(
  'a request id that is not plain is replaced: %s',
  async (given) => {
    const { headers } = await app.call('GET', '/v1/health', { headers: { 'x-request-id': given } });
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  },
);
