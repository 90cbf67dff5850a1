import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { webClock, webIds } from '../../functions/web-ports.ts';
import { createAppHarness } from './support/app-harness.ts';
import type { Answer, AppHarness } from './support/app-harness.ts';
import { added, claimed, claimedOne, dead, jobOf, report } from './support/pull.ts';
import { createSteppedTime } from './support/stepped-time.ts';

let app: AppHarness;
beforeAll(async () => {
  app = await createAppHarness();
});
afterAll(() => app.close());

const enqueue = (body: unknown): Promise<Answer> => app.call('POST', '/v1/jobs', { body });

describe('a dedup key over HTTP', () => {
  const JOB = { type: 'task', dedup_key: 'K', payload: 1 };

  test('answers with the live job, in a batch too', async () => {
    const job = { ...JOB, queue: 'dedup' };
    const first = await enqueue(job);
    const second = await enqueue({ ...job, payload: 2 });
    expect(first.status).toBe(201);
    expect(second).toMatchObject({
      status: 200,
      body: { id: first.body['id'], outcome: 'duplicate' },
    });
    expect(second.headers.get('location')).toBe(`/v1/jobs/${String(first.body['id'])}`);
    const batch = await app.call('POST', '/v1/jobs/batch', { body: { jobs: [job, job] } });
    expect(batch).toMatchObject({
      status: 200,
      body: { jobs: [1, 2].map(() => ({ id: first.body['id'], outcome: 'duplicate' })) },
    });
  });

  test('replaces a job that waits, where asked to', async () => {
    const job = { ...JOB, queue: 'replaced', on_duplicate: 'replace' };
    const first = await enqueue(job);
    const second = await enqueue({ ...job, payload: 2 });
    expect(second.status).toBe(201);
    expect(await jobOf(app, String(first.body['id']))).toMatchObject({ state: 'cancelled' });
    expect((await claimedOne(app, 'replaced'))['payload']).toBe(2);
    expect((await enqueue({ ...job, payload: 3 })).body).toMatchObject({ outcome: 'duplicate' });
  });

  test('is free again when its job has ended', async () => {
    const job = { ...JOB, queue: 'released' };
    await enqueue(job);
    await report(app, await claimedOne(app, 'released'), 'complete');
    expect((await enqueue(job)).status).toBe(201);
  });

  test('case D5 keys are compared as written', async () => {
    const keys = ['é', 'e\u0301', '1', '1.0', 'a', 'A', 'a ', '["ab","c"]', '["a","bc"]', 'null'];
    const ids = new Set<unknown>();
    for (const key of keys) {
      const { body } = await enqueue({ queue: 'd5', type: 't', payload: 0, dedup_key: key });
      ids.add(body['id']);
    }
    expect(ids.size).toBe(keys.length);
  });
});

describe('case D5 the same id is the same job only with equal JSON', () => {
  test.each([
    ['nested values', { pk: { id: 1 } }, { pk: { id: 2 } }, 409],
    ['borders of texts', ['ab', 'c'], ['a', 'bc'], 409],
    ['a number and its text', 1, '1', 409],
    ['null and missing', { a: null }, {}, 409],
    ['composed and decomposed', 'é', 'e\u0301', 409],
    ['order of a list', [1, 2], [2, 1], 409],
  ])('%s', async (_name, one, other, status) => {
    const job = { id: webIds.uuidv7(), queue: 'd5-id', type: 't' };
    await enqueue({ ...job, payload: one });
    expect((await enqueue({ ...job, payload: other })).status).toBe(status);
    expect((await enqueue({ ...job, payload: one })).status).toBe(200);
  });

  test('order of keys, white space and the way to write a number do not count', async () => {
    const id = webIds.uuidv7();
    const raw = (payload: string): string =>
      `{"id":"${id}","queue":"d5-raw","type":"t","payload":${payload}}`;
    expect((await enqueue(raw('{"a":1,"b":[1.0]}'))).status).toBe(201);
    for (const payload of ['{"b":[1],"a":1}', '{ "a": 1e0, "b": [ 10e-1 ] }']) {
      expect((await enqueue(raw(payload))).status).toBe(200);
    }
  });
});

describe('tags and filters', () => {
  test('find jobs by every part, and page on', async () => {
    const before = new Date(webClock.now() - 1000).toISOString();
    const a = await added(app, 'found', { tags: ['red', 'big'], ordering_key: 'o', type: 'one' });
    const b = await added(app, 'found', { tags: ['red'], dedup_key: 'd', type: 'two' });
    await added(app, 'found');
    const after = new Date(webClock.now() + 1000).toISOString();
    const ids = async (query: string): Promise<unknown[]> =>
      ((await app.call('GET', `/v1/jobs?${query}`)).body['jobs'] as { id: string }[]).map(
        ({ id }) => id,
      );
    expect(await ids('tag=red')).toEqual([b, a]);
    expect(await ids('tag=red&queue=found&type=one')).toEqual([a]);
    expect(await ids('ordering_key=o')).toEqual([a]);
    expect(await ids('dedup_key=d')).toEqual([b]);
    expect(await ids('queue=found&state=pending')).toHaveLength(3);
    expect(await ids('queue=found&state=dead')).toEqual([]);
    expect(await ids(`queue=found&from=${before}&until=${after}`)).toHaveLength(3);
    expect(await ids(`queue=found&until=${before}`)).toEqual([]);
    const { body } = await app.call('GET', '/v1/jobs?tag=red&limit=1');
    expect(await ids(`tag=red&limit=1&cursor=${String(body['next_cursor'])}`)).toEqual([a]);
  });

  test.each([
    ['from=yesterday', 'from'],
    ['until=2030-01-01', 'until'],
    ['tag=', 'tag'],
    ['ordering_key=%00', 'ordering_key'],
    [`dedup_key=${'k'.repeat(201)}`, 'dedup_key'],
  ])('%s is 400', async (query, path) => {
    const { status, body } = await app.call('GET', `/v1/jobs?${query}`);
    expect(status).toBe(400);
    expect(body['problems']).toMatchObject([{ path }]);
  });
});

describe('budgets of one job', () => {
  test('S1.8 are its own', async () => {
    await added(app, 'budget', { max_unknown_attempts: 1 });
    const job = await claimedOne(app, 'budget');
    const end = await report(app, job, 'fail', { error: { code: 'e', message: 'm' } });
    expect(end.body).toMatchObject({ outcome: 'dead' });
    expect(await jobOf(app, job.id)).toMatchObject({
      dead: { reason: 'unknown_failures_used_up' },
    });
  });

  test('S1.9 of time as well', async () => {
    await added(app, 'time-budget', { retry_budget_seconds: 1 });
    const job = await claimedOne(app, 'time-budget');
    await report(app, job, 'fail', {
      error: { code: 'e', message: 'm' },
      class: 'transient',
      retry_after_seconds: 60,
    });
    expect(await jobOf(app, job.id)).toMatchObject({ dead: { reason: 'retry_budget_used_up' } });
  });
});

describe('cancel and change', () => {
  test('a pending job ends at once, and the repeat says the same', async () => {
    const id = await added(app, 'cancelled');
    for (let at = 0; at < 2; at += 1) {
      expect(await app.call('POST', `/v1/jobs/${id}/cancel`)).toMatchObject({
        status: 200,
        body: { id, outcome: 'cancelled' },
      });
    }
    expect(await claimed(app, 'cancelled')).toEqual([]);
  });

  test('a job that succeeded or is dead is 409, one that is not there 404', async () => {
    const done = await added(app, 'ended');
    await report(app, await claimedOne(app, 'ended'), 'complete');
    for (const id of [done, await dead(app, 'ended')]) {
      const refused = await app.call('POST', `/v1/jobs/${id}/cancel`);
      expect(refused).toMatchObject({ status: 409, body: { code: 'job_ended' } });
    }
    const missing = `/v1/jobs/${webIds.uuidv7()}`;
    expect((await app.call('POST', `${missing}/cancel`)).status).toBe(404);
    expect((await app.call('PATCH', missing, { body: { priority: 'low' } })).status).toBe(404);
  });

  test('a pending job gets another time and priority; a running one is 409', async () => {
    const id = await added(app, 'changed');
    const path = `/v1/jobs/${id}`;
    const later = new Date(webClock.now() + 3_600_000).toISOString();
    const changed = await app.call('PATCH', path, { body: { due_at: later, priority: 'urgent' } });
    expect(changed).toMatchObject({ status: 200, body: { priority: 'urgent' } });
    expect(Date.parse(changed.body['due_at'] as string)).toBe(Date.parse(later));
    await app.call('PATCH', path, { body: { due_at: '2020-01-01T00:00:00Z' } });
    expect((await claimedOne(app, 'changed')).id).toBe(id);
    expect(await app.call('PATCH', path, { body: { priority: 'low' } })).toMatchObject({
      status: 409,
      body: { code: 'job_not_pending' },
    });
    const far = await app.call('PATCH', path, { body: { due_at: '2999-01-01T00:00:00Z' } });
    expect(far).toMatchObject({ status: 400 });
  });
});

describe('GET /v1/jobs/{id}?wait', () => {
  async function waiting(id: string): Promise<{
    readonly time: ReturnType<typeof createSteppedTime>;
    readonly asked: Promise<Answer>;
  }> {
    const time = createSteppedTime();
    const request = await app.request('GET', `/v1/jobs/${id}?wait=20`);
    return { time, asked: app.callApp({ deps: app.deps(time) }, request) };
  }

  test('case B5 answers when the job has ended, with no open connection meanwhile', async () => {
    const id = await added(app, 'awaited');
    const { time, asked } = await waiting(id);
    const first = await time.nextPause();
    expect(first.milliseconds).toBe(500);
    const { rows } = await app.database.pool.query(
      `select 1 from pg_stat_activity
       where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()`,
    );
    expect(rows).toEqual([]);
    first.end();
    const second = await time.nextPause();
    await report(app, await claimedOne(app, 'awaited'), 'complete', { result: 42 });
    second.end();
    expect((await asked).body).toMatchObject({ state: 'succeeded', result: 42 });
  });

  test('answers at once for a job that has ended, dead and cancelled ones too', async () => {
    const off = await added(app, 'off');
    await app.call('POST', `/v1/jobs/${off}/cancel`);
    for (const id of [off, await dead(app, 'awaited-dead')]) {
      const { status } = await app.call('GET', `/v1/jobs/${id}?wait=20`);
      expect(status).toBe(200);
    }
  });

  test('answers with the job as it is when the time is up', async () => {
    const id = await added(app, 'slow');
    const { time, asked } = await waiting(id);
    let answered = false;
    const done = asked.finally(() => (answered = true));
    for (let at = 0; at < 40 && !answered; at += 1) {
      const pause = await Promise.race([time.nextPause(), done.then(() => undefined)]);
      pause?.end();
    }
    expect((await asked).body).toMatchObject({ id, state: 'pending' });
  });

  test.each(['21', '-1', '1.5', 'x', ''])('wait=%s is 400', async (wait) => {
    const { status } = await app.call('GET', `/v1/jobs/${webIds.uuidv7()}?wait=${wait}`);
    expect(status).toBe(400);
  });
});
