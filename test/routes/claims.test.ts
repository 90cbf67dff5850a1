import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { webIds } from '../../functions/web-ports.ts';
import { createAppHarness } from './support/app-harness.ts';
import type { AppHarness } from './support/app-harness.ts';
import { added, claimed, claimedOne } from './support/pull.ts';
import type { PulledJob } from './support/pull.ts';
import { createSteppedTime } from './support/stepped-time.ts';

let app: AppHarness;
beforeAll(async () => {
  app = await createAppHarness();
});
afterAll(() => app.close());

describe('B.7 a claim over HTTP', () => {
  test('gives the job, the lease and the fencing token, owned by the subject of the token', async () => {
    const id = await added(app, 'plain', { payload: { a: [1] }, tags: ['x'], priority: 'high' });
    const job = await claimedOne(app, 'plain', { lease_seconds: 60 }, { actor: 'agent-7' });
    expect(job).toMatchObject({
      id,
      queue: 'plain',
      type: 'task',
      payload: { a: [1] },
      priority: 'high',
      attempt: 1,
      fencing_token: '1',
      idempotency_key: id,
      lease_seconds: 60,
    });
    expect(job['lease_remaining_ms']).toBeLessThanOrEqual(60_000);
    const read = await app.call('GET', `/v1/jobs/${id}`);
    expect(read.body).toMatchObject({ state: 'running', lease: { owner: 'agent-7' } });
  });

  test('of an empty queue is an empty list, without a body too', async () => {
    const { status, body } = await app.call('POST', '/v1/queues/nothing/claims');
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['claim_id', 'jobs']);
    expect(body['jobs']).toEqual([]);
  });

  test('B.3 repeated with its claim id gives the same leases and spends nothing', async () => {
    for (let at = 0; at < 3; at += 1) await added(app, 'repeated');
    const ask = { claim_id: webIds.uuidv7(), limit: 2 };
    const first = await claimed(app, 'repeated', ask);
    const again = await claimed(app, 'repeated', ask);
    expect(first).toHaveLength(2);
    const leases = (jobs: PulledJob[]): Set<string> =>
      new Set(jobs.map(({ id, fencing_token: token, attempt }) => `${id} ${token} ${attempt}`));
    expect(leases(again)).toEqual(leases(first));
    expect(await claimed(app, 'repeated', { limit: 5 })).toHaveLength(1);
  });

  test('S2.8 somebody else gets nothing for the same claim id', async () => {
    await added(app, 'stolen');
    const ask = { claim_id: webIds.uuidv7() };
    expect(await claimed(app, 'stolen', ask, { actor: 'first' })).toHaveLength(1);
    expect(await claimed(app, 'stolen', ask, { actor: 'second' })).toEqual([]);
  });

  test('case L3 works for a queue of any name', async () => {
    for (const queue of ['a/b', '%00', '🐘', "it's; --", 'a b?c#d']) {
      const id = await added(app, queue);
      expect((await claimedOne(app, queue)).id).toBe(id);
    }
  });
});

describe('S1.17 a batch fits into its lease', () => {
  test('one job after another', async () => {
    for (let at = 0; at < 6; at += 1) await added(app, 'batch');
    const ask = { limit: 6, lease_seconds: 10 };
    expect(await claimed(app, 'batch', { ...ask, seconds_per_job: 4 })).toHaveLength(2);
    expect(await claimed(app, 'batch', { ...ask, seconds_per_job: 60 })).toHaveLength(1);
    expect(await claimed(app, 'batch', { ...ask, seconds_per_job: 2 })).toHaveLength(3);
  });
});

describe('a claim that waits', () => {
  test('asks again at growing intervals and holds no connection meanwhile', async () => {
    const time = createSteppedTime();
    const request = await app.request('POST', '/v1/queues/later/claims', { body: { wait: 20 } });
    const asked = app.callApp({ deps: app.deps(time) }, request);
    const first = await time.nextPause();
    expect(first.milliseconds).toBe(500);
    const { rows } = await app.database.pool.query(
      `select 1 from pg_stat_activity
       where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()`,
    );
    expect(rows).toEqual([]);
    first.end();
    const second = await time.nextPause();
    expect(second.milliseconds).toBe(750);
    const id = await added(app, 'later');
    second.end();
    expect((await asked).body['jobs']).toMatchObject([{ id, attempt: 1 }]);
  });

  test('answers with nothing when its time is up', async () => {
    const time = createSteppedTime();
    const request = await app.request('POST', '/v1/queues/never/claims', { body: { wait: 1 } });
    const asked = app.callApp({ deps: app.deps(time) }, request);
    (await time.nextPause()).end();
    const last = await time.nextPause();
    expect(last.milliseconds).toBeLessThanOrEqual(500);
    last.end();
    expect(await asked).toMatchObject({ status: 200, body: { jobs: [] } });
  });

  test('ends before the platform ends the invocation', async () => {
    const time = createSteppedTime();
    const request = await app.request('POST', '/v1/queues/short/claims', { body: { wait: 20 } });
    const asked = app.callApp({ deps: app.deps({ ...time, invocationMs: 2400 }) }, request);
    const only = await time.nextPause();
    expect(only.milliseconds).toBeLessThanOrEqual(400);
    only.end();
    expect((await asked).body['jobs']).toEqual([]);
  });

  test('takes nothing any more when the caller has gone', async () => {
    const time = createSteppedTime();
    const gone = new AbortController();
    const plain = await app.request('POST', '/v1/queues/gone/claims', { body: { wait: 20 } });
    const asked = app.callApp(
      { deps: app.deps(time) },
      new Request(plain, { signal: gone.signal }),
    );
    await time.nextPause();
    await added(app, 'gone');
    gone.abort();
    expect((await asked).body['jobs']).toEqual([]);
    expect(await claimed(app, 'gone')).toHaveLength(1);
  });
});
