import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createAppHarness } from './support/app-harness.ts';
import type { Answer, AppHarness } from './support/app-harness.ts';
import { added, claimedOne, dead, jobOf, report } from './support/pull.ts';

let app: AppHarness;
beforeAll(async () => {
  app = await createAppHarness();
  await added(app, 'mine');
  await added(app, 'theirs');
});
afterAll(() => app.close());

const JOB = { type: 'task', payload: 0 };
const LIMITED = { queues: ['mine'] };
const TWO = { queues: ['mine', 'second'] };

function call(method: string, path: string, body?: unknown, token = LIMITED): Promise<Answer> {
  return app.call(method, path, { ...(body === undefined ? {} : { body }), ...token });
}

describe('a token for certain queues', () => {
  test.each([
    ['POST', '/v1/jobs', { ...JOB, queue: 'theirs' }],
    [
      'POST',
      '/v1/jobs/batch',
      {
        jobs: [
          { ...JOB, queue: 'mine' },
          { ...JOB, queue: 'theirs' },
        ],
      },
    ],
    ['GET', '/v1/jobs?queue=theirs', undefined],
    ['POST', '/v1/queues/theirs/claims', {}],
    ['POST', '/v1/claims', { queues: ['mine', 'theirs'] }],
    ['GET', '/v1/queues/theirs', undefined],
    ['PUT', '/v1/queues/theirs', { weight: 2 }],
    ['POST', '/v1/queues/theirs/pause', {}],
    ['POST', '/v1/queues/theirs/resume', {}],
    ['GET', '/v1/queues/theirs/blocked-keys', undefined],
    ['GET', '/v1/dead-letters?queue=theirs', undefined],
    ['POST', '/v1/dead-letters/redrive-matching', { filter: { queue: 'theirs' }, dry_run: true }],
    ['POST', '/v1/dead-letters/discard-matching', { filter: { queue: 'theirs' }, dry_run: true }],
  ])('%s %s is 403', async (method, path, body) => {
    const refused = await call(method, path, body);
    expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    const allowed = await call(method, path.replace('theirs', 'mine'), mine(body));
    expect(allowed.status).toBeLessThan(300);
  });

  test.each([
    ['GET', ''],
    ['GET', '?wait=1'],
    ['PATCH', ''],
    ['POST', '/cancel'],
  ])('%s of a job of another queue is 404%s', async (method, suffix) => {
    const id = await added(app, 'theirs');
    const body = method === 'PATCH' ? { priority: 'low' } : undefined;
    const refused = await call(method, `/v1/jobs/${id}${suffix}`, body);
    expect(refused).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await jobOf(app, id)).toMatchObject({ state: 'pending', priority: 'normal' });
  });

  test.each([
    ['heartbeat', { step: 1 }],
    ['complete', {}],
    ['fail', { error: { code: 'e', message: 'm' } }],
    ['release', {}],
    ['snooze', { delay_seconds: 1 }],
  ] as const)('%s of a lease in another queue is 404', async (verb, fields) => {
    await added(app, `leased ${verb}`);
    const job = await claimedOne(app, `leased ${verb}`);
    expect((await report(app, job, verb, fields, LIMITED)).status).toBe(404);
    const own = { queues: [`leased ${verb}`] };
    expect((await report(app, job, verb, fields, own)).status).toBe(200);
  });

  test('sees and settles only its own dead letters', async () => {
    const [own, other] = [await dead(app, 'second'), await dead(app, 'others dead')];
    const paths = ['', '/effects/x'].map((suffix) => `/v1/dead-letters/${other}${suffix}`);
    expect((await call('GET', paths[0] ?? '')).status).toBe(404);
    expect((await call('PATCH', paths[0] ?? '', { note: 'x' })).status).toBe(404);
    expect((await call('POST', paths[1] ?? '', { state: 'done' })).status).toBe(404);
    for (const verb of ['redrive', 'discard']) {
      const order = { job_ids: [other], reason: 'r' };
      expect((await call('POST', `/v1/dead-letters/${verb}`, order)).body).toEqual({
        settled: 0,
        jobs: [{ id: other, outcome: 'not_dead' }],
      });
    }
    const both = { job_ids: [other, own], reason: 'r' };
    expect((await call('POST', '/v1/dead-letters/redrive', both, TWO)).body).toEqual({
      settled: 1,
      jobs: [
        { id: other, outcome: 'not_dead' },
        { id: own, outcome: 'redriven' },
      ],
    });
    expect(await jobOf(app, other)).toMatchObject({ state: 'dead' });
  });

  test('for one queue lists that one, for several asks which', async () => {
    const one = await call('GET', '/v1/jobs');
    expect(new Set((one.body['jobs'] as { queue: string }[]).map(({ queue }) => queue))).toEqual(
      new Set(['mine']),
    );
    for (const path of ['/v1/jobs', '/v1/dead-letters']) {
      expect((await call('GET', path)).status).toBe(200);
      const several = await call('GET', path, undefined, TWO);
      expect(several).toMatchObject({ status: 400, body: { problems: [{ path: 'queue' }] } });
    }
    const bulk = await call(
      'POST',
      '/v1/dead-letters/redrive-matching',
      { filter: { type: 'task' }, dry_run: true },
      TWO,
    );
    expect(bulk).toMatchObject({ status: 400, body: { problems: [{ path: 'filter.queue' }] } });
  });

  test('lists no other queue', async () => {
    const { body } = await call('GET', '/v1/queues');
    expect((body['queues'] as { name: string }[]).map(({ name }) => name)).toEqual(['mine']);
  });

  test('learns of no other queue from the cursor of a page', async () => {
    const only = { queues: ['mine', 'third'] };
    for (const name of ['a first', 'mine', 'other', 'third']) {
      await call(
        'PUT',
        `/v1/queues/${encodeURIComponent(name)}`,
        { weight: 1 },
        { queues: [name] },
      );
      const schedule = { cron: '0 2 * * *', zone: 'UTC', queue: name, type: 't', payload: 0 };
      const path = `/v1/schedules/of ${name}`;
      expect((await call('PUT', encodeURI(path), schedule, { queues: [name] })).status).toBe(200);
    }
    for (const [path, cursors] of [
      ['/v1/queues', ['mine', 'third', null]],
      ['/v1/schedules', ['of mine', 'of third', null]],
    ] as const) {
      let next = '';
      for (const expected of cursors) {
        const { body } = await call('GET', `${path}?limit=1${next}`, undefined, only);
        expect(body['next_cursor']).toBe(expected);
        next = `&cursor=${encodeURIComponent(expected ?? '')}`;
      }
    }
  });

  test('for no queue at all allows none', async () => {
    const none = { queues: [] };
    expect((await call('POST', '/v1/jobs', { ...JOB, queue: 'mine' }, none)).status).toBe(403);
    expect((await call('GET', '/v1/queues', undefined, none)).body['queues']).toEqual([]);
    expect((await call('GET', '/v1/jobs', undefined, none)).status).toBe(400);
  });
});

/** The same body about the queue that the token is for. */
function mine(body: unknown): unknown {
  if (body === undefined) return undefined;
  return JSON.parse(
    JSON.stringify(body).replace('["mine","theirs"]', '["mine"]').replaceAll('theirs', 'mine'),
  );
}
