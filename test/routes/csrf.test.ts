import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { AppDeps } from '../../functions/deps.ts';
import { EVERY_ROUTE } from '../../functions/routes/index.ts';
import { parseConfig } from '../../shared/config.ts';
import { SCOPES } from '../../shared/scopes.ts';
import {
  AUTH_SECRET,
  POKE_KEY,
  SECOND_POKE_KEY,
  createAppHarness,
  signToken,
} from './support/app-harness.ts';
import type { AppHarness } from './support/app-harness.ts';
import { ORIGIN, OWN_PAGE, boardCalls, codeOf } from './support/board-calls.ts';

let app: AppHarness;
beforeAll(async () => {
  app = await createAppHarness();
});
afterAll(() => app.close());
const { send, session } = boardCalls(() => app);

function enqueue(headers: Readonly<Record<string, string>>, deps?: AppDeps): Promise<Response> {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ queue: 'q', type: 't', payload: 0 }),
  };
  return send('/v1/jobs', init, deps === undefined ? {} : { deps });
}

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

  test("changes nothing so on any route, that of agents and the board's own included", async () => {
    const { cookie } = await session(SCOPES.join(' '));
    const changing = EVERY_ROUTE.filter(({ method }) => method !== 'GET');
    expect(changing.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['/mcp', '/v1/work', '/board/sign-out', '/v1/escalations/claims']),
    );
    for (const { method, path } of changing) {
      const headers = { cookie, 'sec-fetch-site': 'cross-site' };
      // A sign-in is a form, and shows what is wrong as a page.
      const form = path === '/board/sign-in' ? { body: new URLSearchParams({ token: '' }) } : {};
      const response = await send(path, { method, headers, ...form });
      const code = path === '/board/sign-in' ? 'csrf_refused' : await codeOf(response);
      expect([path, response.status, code]).toEqual([path, 403, 'csrf_refused']);
    }
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
