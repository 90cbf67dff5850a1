import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { defineHandler } from '../../shared/handler.ts';
import { z } from 'zod';
import { createAppHarness } from './support/app-harness.ts';
import type { AppHarness } from './support/app-harness.ts';
import { added, claimed, claimedOne, dead, jobOf, report } from './support/pull.ts';

let app: AppHarness;
beforeAll(async () => {
  const served = defineHandler({ queue: 'served', type: 'task', schema: z.any(), run: () => null });
  app = await createAppHarness({ handlers: [served] });
});
afterAll(() => app.close());

function pathsOf(body: Readonly<Record<string, unknown>>): string[] {
  return (body['problems'] as { path: string }[]).map(({ path }) => path);
}

describe('a queue', () => {
  test('is made by the first PUT and keeps what the next one leaves out', async () => {
    const made = await app.call('PUT', '/v1/queues/settings', {
      body: { lease_seconds: 60, concurrency_limit: 3 },
    });
    expect(made).toMatchObject({
      status: 200,
      body: { name: 'settings', lease_seconds: 60, concurrency_limit: 3, delivery: 'handler' },
    });
    const changed = await app.call('PUT', '/v1/queues/settings', {
      body: { concurrency_limit: null, weight: 5 },
    });
    expect(changed.body).toMatchObject({ lease_seconds: 60, concurrency_limit: null, weight: 5 });
    expect((await app.call('GET', '/v1/queues/settings')).body).toEqual(changed.body);
  });

  test.each([
    [{ lease_seconds: 0 }, 'lease_seconds'],
    [{ lease_seconds: null }, 'lease_seconds'],
    [{ weights: 1 }, 'weights'],
    [{ delivery: 'carrier pigeon' }, 'delivery'],
    [{ delivery: 'push' }, 'target_url'],
  ])('%j is 400 by name', async (body, path) => {
    const refused = await app.call('PUT', '/v1/queues/refused', { body });
    expect(refused.status).toBe(400);
    expect(pathsOf(refused.body)).toEqual([path]);
    expect((await app.call('GET', '/v1/queues/refused')).status).toBe(404);
  });

  test('that is not there is 404, and a name that cannot be is 400', async () => {
    expect((await app.call('GET', '/v1/queues/missing')).body['code']).toBe('not_found');
    expect((await app.call('GET', '/v1/queues/%2E%2E%00')).status).toBe(400);
    expect((await app.call('PUT', `/v1/queues/${'a'.repeat(129)}`, { body: {} })).status).toBe(400);
  });

  test('list goes by pages', async () => {
    for (const name of ['page a', 'page b', 'page c']) {
      await app.call('PUT', `/v1/queues/${encodeURIComponent(name)}`, { body: {} });
    }
    const seen: string[] = [];
    let cursor = '';
    for (let page = 0; page < 20; page += 1) {
      const { body } = await app.call('GET', `/v1/queues?limit=2${cursor}`);
      seen.push(...(body['queues'] as { name: string }[]).map(({ name }) => name));
      if (body['next_cursor'] === null) break;
      cursor = `&cursor=${encodeURIComponent(body['next_cursor'] as string)}`;
    }
    expect(seen).toEqual(expect.arrayContaining(['page a', 'page b', 'page c']));
    expect(seen).toEqual([...new Set(seen)].toSorted());
  });
});

describe('case J1 the target of a push is checked wherever it is set', () => {
  const BAD = [
    'http://example.com/hook',
    'https://127.0.0.1/hook',
    'https://0x7f.1/hook',
    'https://[::1]/',
    'https://169.254.169.254/latest/meta-data',
    'https://10.0.0.8/',
    'https://localhost/',
    'https://user:pass@example.com/',
    'ftp://example.com/',
    'no url at all',
  ];

  test.each(BAD)('%s is refused when the queue is made', async (target) => {
    const refused = await app.call('PUT', '/v1/queues/new-push', {
      body: { delivery: 'push', target_url: target },
    });
    expect(refused.status).toBe(400);
    expect(pathsOf(refused.body)).toEqual(['target_url']);
    expect(JSON.stringify(refused.body)).not.toContain('pass@');
    expect((await app.call('GET', '/v1/queues/new-push')).status).toBe(404);
  });

  test.each(BAD)('%s is refused as a change', async (target) => {
    const good = { delivery: 'push', target_url: 'https://hooks.example.com/a' };
    expect((await app.call('PUT', '/v1/queues/push', { body: good })).status).toBe(200);
    const refused = await app.call('PUT', '/v1/queues/push', { body: { target_url: target } });
    expect(refused.status).toBe(400);
    expect((await app.call('GET', '/v1/queues/push')).body).toMatchObject(good);
  });

  test('one on record is checked when the queue begins to push', async () => {
    await app.database.pool.query(
      `insert into leasehold.queues (name, target_url) values ('old', 'https://10.0.0.8/')`,
    );
    const refused = await app.call('PUT', '/v1/queues/old', { body: { delivery: 'push' } });
    expect(refused.status).toBe(400);
    expect(pathsOf(refused.body)).toEqual(['target_url']);
  });
});

describe('pause and resume', () => {
  test('stop and restart the claims, say who and why, and can be repeated', async () => {
    const id = await added(app, 'halted');
    const paused = await app.call('POST', '/v1/queues/halted/pause', {
      body: { reason: 'provider is down' },
      actor: 'maria',
    });
    expect(paused).toMatchObject({
      status: 200,
      body: { changed: true, paused: { by: 'maria', reason: 'provider is down' } },
    });
    expect((await app.call('POST', '/v1/queues/halted/pause')).body).toMatchObject({
      changed: false,
    });
    expect(await claimed(app, 'halted')).toEqual([]);
    expect(await jobOf(app, id)).toMatchObject({ state: 'pending', waiting_for: 'pause' });
    const resumed = await app.call('POST', '/v1/queues/halted/resume');
    expect(resumed.body).toMatchObject({ changed: true, paused: null });
    expect(await claimed(app, 'halted')).toHaveLength(1);
  });

  test('resuming wakes the workers of a queue that this deployment serves', async () => {
    app.pokes.length = 0;
    await app.call('POST', '/v1/queues/served/pause');
    await app.call('POST', '/v1/queues/served/resume');
    await app.backgroundDone();
    expect(app.pokes).toEqual([{ queue: 'served', depth: 0 }]);
  });
});

describe('S1.15 a limit of the queue holds for every way to claim', () => {
  test('on leases at one time', async () => {
    await app.call('PUT', '/v1/queues/limited', { body: { concurrency_limit: 2 } });
    for (let at = 0; at < 4; at += 1) await added(app, 'limited');
    expect(await claimed(app, 'limited', { limit: 10 })).toHaveLength(2);
    expect(await claimed(app, 'limited')).toEqual([]);
    const { body } = await app.call('POST', '/v1/claims', { body: { queues: ['limited'] } });
    expect(body['jobs']).toEqual([]);
  });
});

describe('case E1 E3 S1.14 an ordering key that is blocked', () => {
  test('holds back its own jobs alone, and is listed with what blocks it', async () => {
    const head = await dead(app, 'ordered', { ordering_key: 'A' });
    for (let at = 0; at < 3; at += 1) await added(app, 'ordered', { ordering_key: 'A' });
    const free = await added(app, 'ordered', { ordering_key: 'B' });
    expect((await claimedOne(app, 'ordered')).id).toBe(free);
    expect(await claimed(app, 'ordered')).toEqual([]);
    const { body } = await app.call('GET', '/v1/queues/ordered/blocked-keys');
    expect(body).toEqual({
      keys: [{ ordering_key: 'A', waiting: 3, blocked_by: head, blocked_by_state: 'dead' }],
      next_cursor: null,
    });
    await app.call('POST', '/v1/dead-letters/discard', {
      body: { job_ids: [head], reason: 'given up' },
    });
    expect(await claimed(app, 'ordered', { limit: 10 })).toHaveLength(1);
  });

  test('case E3 waits while its head waits to be tried again, and then goes in order', async () => {
    await app.call('PUT', '/v1/queues/retried', {
      body: { backoff_base_ms: 60_000, backoff_cap_ms: 60_000 },
    });
    const [a1, a2, a3] = [
      await added(app, 'retried', { ordering_key: 'A' }),
      await added(app, 'retried', { ordering_key: 'A' }),
      await added(app, 'retried', { ordering_key: 'A' }),
    ];
    const head = await claimedOne(app, 'retried');
    await report(app, head, 'fail', {
      error: { code: 'e', message: 'm' },
      class: 'transient',
      retry_after_seconds: 60,
    });
    const b1 = await added(app, 'retried', { ordering_key: 'B' });
    expect((await claimedOne(app, 'retried')).id).toBe(b1);
    for (let poke = 0; poke < 10; poke += 1) expect(await claimed(app, 'retried')).toEqual([]);
    await app.call('POST', `/v1/jobs/${a1}/cancel`);
    for (const next of [a2, a3]) {
      const job = await claimedOne(app, 'retried');
      expect(job.id).toBe(next);
      await report(app, job, 'complete');
    }
  });

  test('goes by pages', async () => {
    for (const key of ['k1', 'k2', 'k3']) {
      await added(app, 'pages', { ordering_key: key });
      await added(app, 'pages', { ordering_key: key });
    }
    const seen: unknown[] = [];
    let cursor = '';
    for (let page = 0; page < 5; page += 1) {
      const { body } = await app.call('GET', `/v1/queues/pages/blocked-keys?limit=1${cursor}`);
      seen.push(...(body['keys'] as { ordering_key: string }[]).map((key) => key.ordering_key));
      if (body['next_cursor'] === null) break;
      cursor = `&cursor=${body['next_cursor'] as string}`;
    }
    expect(seen).toEqual(['k1', 'k2', 'k3']);
  });
});
