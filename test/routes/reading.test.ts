import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { webIds } from '../../functions/web-ports.ts';
import { createAppHarness } from './support/app-harness.ts';
import type { AppHarness } from './support/app-harness.ts';

let app: AppHarness;
beforeAll(async () => {
  app = await createAppHarness();
});
afterAll(() => app.close());

const JOB = { queue: 'emails', type: 'email.send', payload: { to: 'ada@example.com' } };

function pathsOf(body: Readonly<Record<string, unknown>>): string[] {
  return (body['problems'] as { path: string }[]).map(({ path }) => path);
}

describe('reading', () => {
  test.each(['nonsense', '%00', '00000000-0000-4000-8000-000000000000'])(
    'an id that cannot be is 400: %s',
    async (id) => {
      const { status, body } = await app.call('GET', `/v1/jobs/${id}`);
      expect(status).toBe(400);
      expect(pathsOf(body)).toEqual(['id']);
    },
  );

  test('an id that is not there is 404', async () => {
    expect((await app.call('GET', `/v1/jobs/${webIds.uuidv7()}`)).body).toMatchObject({
      status: 404,
      code: 'not_found',
    });
  });

  test('a list goes on where the page before ended', async () => {
    const ids: unknown[] = [];
    for (let at = 0; at < 5; at += 1) {
      const { body } = await app.call('POST', '/v1/jobs', { body: { ...JOB, queue: 'paged' } });
      ids.unshift(body['id']);
    }
    const seen: unknown[] = [];
    let cursor = '';
    for (let page = 0; page < 10; page += 1) {
      const { body } = await app.call('GET', `/v1/jobs?queue=paged&limit=2${cursor}`);
      seen.push(...(body['jobs'] as { id: string }[]).map(({ id }) => id));
      if (body['next_cursor'] === null) break;
      cursor = `&cursor=${body['next_cursor'] as string}`;
    }
    expect(seen).toEqual(ids);
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['limit=ten', 'limit'],
    ['state=lost', 'state'],
    ['cursor=%27', 'cursor'],
    ['queue=', 'queue'],
    ['sort=asc', 'sort'],
    ['queue=a&queue=b', 'queue'],
    ['__proto__=1', '__proto__'],
  ])('a query that breaks a rule is 400: %s', async (query, path) => {
    const { status, body } = await app.call('GET', `/v1/jobs?${query}`);
    expect(status).toBe(400);
    expect(pathsOf(body)).toEqual([path]);
  });
});
