/** The bundle that SAM would deploy, behind a function URL that streams and behind an HTTP API that does not. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readTemplate } from '../aws/support/template.ts';
import { ROOT } from '../tidy/source-files.ts';
import { buildLambda } from './support/lambda-build.ts';
import type { LambdaBuild } from './support/lambda-build.ts';
import { apiGatewayEvent, functionUrlEvent } from './support/http-events.ts';
import type { HttpCall } from './support/http-events.ts';
import { call, createLambdaStack, responseTo } from './support/stack.ts';
import type { LambdaStack } from './support/stack.ts';

let stack: LambdaStack;
const builds: LambdaBuild[] = [];
beforeAll(async () => {
  stack = await createLambdaStack({
    env: { INSERT_POKES: 'off', BOARD_ASSETS: join(ROOT, 'functions/board/assets') },
  });
  builds.push(await buildLambda('ApiFunction'), await buildLambda('WorkerFunction'));
});
afterAll(async () => {
  for (const { folder } of builds) rmSync(folder, { recursive: true, force: true });
  await stack.close();
});

const viaUrl = (request: HttpCall): Promise<Response> => call(stack.api, request);
const viaGateway = async (request: HttpCall): Promise<Response> =>
  responseTo(await stack.worker.invoke(apiGatewayEvent(request, 'live')));
const WAYS = [
  ['a function URL', viaUrl],
  ['an HTTP API', viaGateway],
] as const;

function post(body: HttpCall['body'], headers: HttpCall['headers'] = {}): HttpCall {
  const signedIn = { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' };
  return {
    method: 'POST',
    path: '/v1/jobs',
    headers: { ...signedIn, ...headers },
    ...(body === undefined ? {} : { body }),
  };
}

describe.each(WAYS)('C.1 through %s', (name, send) => {
  test('health needs nothing', async () => {
    const response = await send({ method: 'GET', path: '/v1/health' });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: 'ok' });
    expect(response.headers.get('content-type')).toBe('application/json');
  });

  test('the board and its files are served, compressed for whoever takes it', async () => {
    const page = await send({ method: 'GET', path: '/board/jobs?state=dead' });
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=UTF-8',
    ]);
    expect(await page.text()).toContain('src="/board/assets/board.js"');
    const file = { method: 'GET', path: '/board/assets/board.js' };
    const source = readFileSync(join(ROOT, 'functions/board/assets/board.js'));
    const plain = await send(file);
    expect(plain.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(Buffer.from(await plain.arrayBuffer()).equals(source)).toBe(true);
    const headers = { 'accept-encoding': 'br, gzip' };
    const compressed = await send({ ...file, headers });
    expect(compressed.headers.get('content-encoding')).toBe('gzip');
    const sent = Buffer.from(await compressed.arrayBuffer());
    expect(sent.length).toBeLessThan(source.length / 2);
    expect(gunzipSync(sent).equals(source)).toBe(true);
    const etag = compressed.headers.get('etag') ?? '';
    const again = await send({ ...file, headers: { ...headers, 'if-none-match': etag } });
    expect([again.status, again.headers.get('etag')]).toEqual([304, etag]);
    expect((await send({ method: 'GET', path: '/board/assets/other.js' })).status).toBe(404);
  });

  test('a person signs in to the board by a cookie', async () => {
    const answer = await send({
      method: 'POST',
      path: '/board/sign-in',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'sec-fetch-site': 'same-origin',
      },
      body: new URLSearchParams({ token: stack.token }).toString(),
    });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/board']);
    const cookie = answer.headers
      .getSetCookie()
      .map((one) => one.split(';')[0])
      .join('; ');
    expect(cookie).toMatch(/^__Host-leasehold=/);
    const session = await send({ method: 'GET', path: '/board/session', headers: { cookie } });
    expect(await session.json()).toMatchObject({ actor: 'tester' });
  });

  test('a body arrives byte for byte, as text and in base64', async () => {
    const job = { queue: 'pulled', type: 't', payload: { text: '😀 naïve "quoted" \u2028' } };
    const asText = await send(post(JSON.stringify(job)));
    const bytes = new TextEncoder().encode(JSON.stringify(job));
    const { id } = (await asText.json()) as { readonly id: string };
    // AWS sends what is not declared as text in base64; JSON with a parameter it does not know is such a thing.
    const asBytes = await send(post(bytes, { 'content-type': 'application/json; charset=utf-8' }));
    expect([asText.status, asBytes.status]).toEqual([201, 201]);
    const authorization = `Bearer ${stack.token}`;
    const read = await send({ method: 'GET', path: `/v1/jobs/${id}`, headers: { authorization } });
    expect(await read.json()).toMatchObject({ payload: job.payload });
  });

  test('query and path arrive encoded, once', async () => {
    // An HTTP API decodes the path, so nobody can tell a slash of a name from one of the path.
    const queue = name === 'a function URL' ? 'a b&c=d/e?é' : 'a b&c=d?é';
    const made = await send({
      ...post('{"weight":3}'),
      method: 'PUT',
      path: `/v1/queues/${encodeURIComponent(queue)}`,
    });
    expect(made.status).toBe(200);
    const listed = await send({
      method: 'GET',
      path: `/v1/jobs?queue=${encodeURIComponent(queue)}&limit=1`,
      headers: { authorization: `Bearer ${stack.token}` },
    });
    expect(listed.status).toBe(200);
    expect(await made.json()).toMatchObject({ name: queue, weight: 3 });
  });

  test('errors are problem documents', async () => {
    const unsigned = await send({ method: 'GET', path: '/v1/jobs' });
    const broken = await send(post('{bad'));
    const unknown = await send({ method: 'GET', path: '/nowhere' });
    const trace = await send({ method: 'TRACE', path: '/v1/health' });
    const answers = [unsigned, broken, unknown, trace];
    expect(answers.map(({ status }) => status)).toEqual([401, 400, 404, 400]);
    for (const answer of answers) {
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
      expect(await answer.json()).toMatchObject({ status: answer.status });
    }
  });

  test('a HEAD and a GET with a body are answered', async () => {
    const head = await send({ method: 'HEAD', path: '/v1/health' });
    const get = await send({ method: 'GET', path: '/v1/health', body: 'x' });
    expect([head.status, await head.text(), get.status]).toEqual([200, '', 200]);
  });

  test('a page of HTML arrives as text', async () => {
    const response = await send({ method: 'GET', path: '/docs' });
    expect(response.headers.get('content-type')).toMatch(/^text\/html/);
    expect(await response.text()).toMatch(/^<!doctype html>/i);
  });
});

describe('C.1 the bundle', () => {
  test('builds without a warning, the same for both functions, with all it needs', async () => {
    const [api, worker] = builds;
    expect([api?.warnings, worker?.warnings]).toEqual([[], []]);
    expect(api?.bytes).toBe(worker?.bytes);
    expect(api?.bytes).toBeLessThan(2.25 * 1024 * 1024);
  });

  test('exports the handlers that the template names', async () => {
    const { ApiFunction: api, WorkerFunction: worker } = readTemplate().Resources;
    expect(api?.Properties['Handler']).toBe('lambda.stream');
    expect(worker?.Properties['Handler']).toBe('lambda.handler');
    const module = (await import(`${builds[0]?.folder}/lambda.cjs`)) as Record<string, unknown>;
    expect(Object.keys(module)).toEqual(expect.arrayContaining(['handler', 'stream']));
    expect(module['handler']).toBeTypeOf('function');
  });

  test('keeps cookies apart', async () => {
    const { cookies } = functionUrlEvent({
      method: 'GET',
      path: '/v1/health',
      headers: { cookie: 'a=1; b=2' },
    });
    expect(cookies).toEqual(['a=1', 'b=2']);
    const response = await viaUrl({
      method: 'GET',
      path: '/v1/health',
      headers: { cookie: 'a=1; b=2' },
    });
    expect(response.status).toBe(200);
  });
});
