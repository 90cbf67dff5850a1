/** The board's files as workerd serves them: through the Worker, and in no other way. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { ROOT } from '../../infra/local/state-folder.ts';
import { createDeployment } from '../support/deployment.ts';
import type { DeployedWorker, Deployment } from '../support/deployment.ts';

let deployment: Deployment;
let worker: DeployedWorker;
beforeAll(async () => {
  deployment = await createDeployment();
  worker = await deployment.start();
});
afterAll(() => deployment.close());

const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${worker.url}${path}`, { headers, redirect: 'manual' });

test.each([
  ['board.js', 'text/javascript; charset=utf-8'],
  ['board.css', 'text/css; charset=utf-8'],
])('%s is the built file, and 304 for whoever has it', async (name, type) => {
  const first = await get(`/board/assets/${name}`);
  expect(Object.fromEntries(first.headers)).toMatchObject({
    'content-type': type,
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
  });
  const built = readFileSync(join(ROOT, 'functions/board/assets', name));
  expect(Buffer.from(await first.arrayBuffer()).equals(built)).toBe(true);
  const etag = first.headers.get('etag') ?? '';
  expect(etag).not.toBe('');
  const again = await get(`/board/assets/${name}`, { 'if-none-match': etag });
  expect([again.status, await again.text()]).toEqual([304, '']);
});

test('nothing else is served, at no other address', async () => {
  for (const path of ['/board.js', '/assets/board.js', '/board/assets/', '/board/assets/x.js']) {
    const { status, headers } = await get(path);
    expect([path, status === 404 || headers.get('content-type')]).toEqual([
      path,
      path === '/board/assets/' ? 'text/html; charset=UTF-8' : true,
    ]);
  }
});

test('a build names its folder and its binding', () => {
  expect(inject('worker').assets).toEqual({
    directory: join(ROOT, 'functions/board/assets'),
    binding: 'ASSETS',
    workerFirst: true,
  });
});
