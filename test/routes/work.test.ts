import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { parseConfig } from '../../shared/config.ts';
import { MAX_POKE_DEPTH, REPORT_MARGIN_MS } from '../../shared/limits.ts';
import { createScriptedWork } from './support/scripted-work.ts';
import type { ScriptedWork } from './support/scripted-work.ts';

let scripted: ScriptedWork;
beforeAll(async () => {
  scripted = await createScriptedWork();
});
afterAll(() => scripted.app.close());
beforeEach(() => scripted.reset());

describe('C.2 a poke claims one job and runs it', () => {
  test('and the job is done, with its result', async () => {
    scripted.behaviours.set('fine', ({ progress }) => {
      progress('1 of 1');
      return { rows: 3 };
    });
    const id = await scripted.enqueue('fine');
    const left = await scripted.enqueue('fine');
    const { status, body } = await scripted.work();
    expect(status).toBe(200);
    expect(body).toMatchObject({ outcome: 'succeeded', job_id: id, attempt: 1, more_due: true });
    expect(await scripted.job(id)).toMatchObject({
      state: 'succeeded',
      result: { rows: 3 },
      finished_by: 'route-tests',
    });
    expect(await scripted.job(left)).toMatchObject({ state: 'pending', attempt: 0 });
  });

  test('an empty queue is an ordinary answer', async () => {
    expect(await scripted.work()).toMatchObject({
      status: 200,
      body: { outcome: 'empty', queue: 'scripted' },
    });
  });

  test('nothing is claimed from a queue that this deployment does not serve', async () => {
    const id = await scripted.enqueue('fine', { queue: 'elsewhere' });
    const before = scripted.app.http.endpoint.requests;
    const { body } = await scripted.app.call('POST', '/v1/work', {
      body: { queue: 'elsewhere', depth: 0 },
    });
    expect(body).toEqual({ outcome: 'no_handler', queue: 'elsewhere' });
    // One read: the queue's jobs might be pushed.
    expect(scripted.app.http.endpoint.requests).toBe(before + 1);
    expect(await scripted.job(id)).toMatchObject({ state: 'pending', attempt: 0 });
  });

  test('the lease is not longer than what is left of the invocation', async () => {
    let remaining = 0;
    scripted.behaviours.set('look', async () => {
      const { rows } = await scripted.app.database.pool.query<{ seconds: number }>(
        `select extract(epoch from due_at - clock_timestamp())::float8 as seconds
         from leasehold.job_state where lane = 0`,
      );
      remaining = rows[0]?.seconds ?? Number.NaN;
    });
    await scripted.enqueue('look');
    const request = await scripted.app.request('POST', '/v1/work', {
      body: { queue: 'scripted', depth: 0 },
    });
    await scripted.app.callApp({ deps: scripted.app.deps({ invocationMs: 2_500 }) }, request);
    expect(remaining).toBeGreaterThan(0);
    expect(remaining).toBeLessThanOrEqual(2);
  });

  test('C.2 an invocation whose time is used up claims nothing and spends no attempt', async () => {
    const id = await scripted.enqueue('late');
    const request = await scripted.app.request('POST', '/v1/work', {
      body: { queue: 'scripted', depth: 0 },
    });
    const deps = scripted.app.deps({ invocationMs: REPORT_MARGIN_MS });
    expect((await scripted.app.callApp({ deps }, request)).body).toEqual({
      outcome: 'no_time',
      queue: 'scripted',
    });
    expect(await scripted.job(id)).toMatchObject({ state: 'pending', attempt: 0 });
  });
});

describe('S1.16 pokes are hints', () => {
  test('one a queue after the commit, for what this deployment serves and what is due', async () => {
    await scripted.enqueue('fine');
    await scripted.enqueue('fine', { queue: 'elsewhere' });
    await scripted.enqueue('fine', { delay_seconds: 60 });
    const one = { queue: 'scripted', type: 'run', payload: { behaviour: 'fine' } };
    await scripted.app.call('POST', '/v1/jobs/batch', {
      body: { jobs: [one, one, { ...one, queue: 'elsewhere' }, one] },
    });
    await scripted.app.backgroundDone();
    expect(scripted.app.pokes).toEqual([
      { queue: 'scripted', depth: 0 },
      { queue: 'scripted', depth: 0 },
    ]);
  });

  test('a worker that sees more due work pokes on, one deeper, and not for ever', async () => {
    scripted.behaviours.set('fine', () => undefined);
    for (let at = 0; at < 4; at += 1) await scripted.enqueue('fine');
    scripted.app.pokes.length = 0;
    await scripted.work(0);
    await scripted.work(MAX_POKE_DEPTH - 1);
    await scripted.work(MAX_POKE_DEPTH);
    await scripted.work(0); // the last job
    await scripted.app.backgroundDone();
    expect(scripted.app.pokes).toEqual([
      { queue: 'scripted', depth: 1 },
      { queue: 'scripted', depth: MAX_POKE_DEPTH },
    ]);
  });

  test('what the report says about further work counts, not what the claim saw', async () => {
    scripted.behaviours.set('fine', () => undefined);
    scripted.behaviours.set('adds', async () => {
      await scripted.enqueue('fine');
      await scripted.app.backgroundDone();
      scripted.app.pokes.length = 0;
    });
    await scripted.enqueue('adds');
    expect((await scripted.work()).body).toMatchObject({ more_due: true });
    await scripted.app.backgroundDone();
    expect(scripted.app.pokes).toEqual([{ queue: 'scripted', depth: 1 }]);
    await scripted.work();
  });

  test('both can be switched off', async () => {
    scripted.behaviours.set('fine', () => undefined);
    const { config } = scripted.app.deps();
    const quiet = scripted.app.deps({
      config: parseConfig({
        DATABASE_URL: config.databaseUrl.reveal(),
        AUTH_SECRET: config.authSecret?.reveal(),
        POKE_SECRETS: config.pokeSecrets.map((key) => key.reveal()).join(' '),
        INSERT_POKES: 'off',
        CHAIN_POKES: 'off',
      }),
    });
    const payload = { behaviour: 'fine' };
    for (let at = 0; at < 2; at += 1) {
      const body = { queue: 'scripted', type: 'run', payload };
      await scripted.app.callApp(
        { deps: quiet },
        await scripted.app.request('POST', '/v1/jobs', { body }),
      );
    }
    const body = { queue: 'scripted', depth: 0 };
    const answer = await scripted.app.callApp(
      { deps: quiet },
      await scripted.app.request('POST', '/v1/work', { body }),
    );
    expect(answer.body).toMatchObject({ outcome: 'succeeded', more_due: true });
    await scripted.app.backgroundDone();
    expect(scripted.app.pokes).toEqual([]);
  });
});

test.each([
  [{}, 'queue'],
  [{ queue: 'q', depth: -1 }, 'depth'],
  [{ queue: 'q', depth: 1.5 }, 'depth'],
  [{ queue: '..', depth: 0 }, 'queue'],
  [{ queue: 'q', depth: 0, owner: 'me' }, 'owner'],
])('a poke that breaks a rule is 400: %j', async (body, path) => {
  const { status, body: problem } = await scripted.app.call('POST', '/v1/work', { body });
  expect(status).toBe(400);
  expect(problem['problems']).toMatchObject([{ path }]);
});

test('C.2 an answer lost on the claim wastes no attempt', async () => {
  scripted.behaviours.set('fine', ({ attempt }) => ({ attempt }));
  const id = await scripted.enqueue('fine');
  scripted.app.http.endpoint.faults.next(
    { kind: 'drop_after_commit' },
    { match: /leasehold\.claim/ },
  );
  scripted.app.http.endpoint.faults.next(
    { kind: 'drop_after_commit' },
    { match: /leasehold\.complete/ },
  );
  expect((await scripted.work()).body).toMatchObject({ outcome: 'succeeded', attempt: 1 });
  expect(await scripted.job(id)).toMatchObject({ state: 'succeeded', result: { attempt: 1 } });
});
