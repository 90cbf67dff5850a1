/** Every place where something becomes due, or is due sooner, tells the wake clock, after its commit and beside the answer. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { createApp } from '../../functions/app.ts';
import { defineHandler } from '../../shared/handler.ts';
import { Snooze, TransientError } from '../../shared/handler-errors.ts';
import { MAX_POKE_DEPTH, POKE_LOST_MS } from '../../shared/limits.ts';
import type { PokeOutcome } from '../../shared/ports.ts';
import { createAppHarness } from '../routes/support/app-harness.ts';
import type { AppHarness } from '../routes/support/app-harness.ts';
import { added, claimedOne, report } from '../routes/support/pull.ts';

const MINE = 'mine';
const LEASE_SECONDS = 30;
const SLACK_SECONDS = 2;

let app: AppHarness;
/** What the handler does next. */
let run: () => unknown;
beforeAll(async () => {
  const handler = defineHandler({
    queue: MINE,
    type: 'task',
    schema: z.unknown(),
    run: () => run(),
  });
  app = await createAppHarness({ handlers: [handler] });
});
afterAll(() => app.close());
beforeEach(async () => {
  await app.database.pool.query('truncate leasehold.job_state, leasehold.queues');
  run = () => undefined;
  await forget();
});

async function forget(): Promise<void> {
  await app.backgroundDone();
  app.wakes.length = 0;
  app.pokes.length = 0;
}

/** The instants asked for since the last look, in seconds from now, the first first. */
async function wakes(): Promise<number[]> {
  await app.backgroundDone();
  return app.wakes.map((at) => (at - Date.now()) / 1000).toSorted((a, b) => a - b);
}

function near(seconds: number): unknown {
  return expect.toSatisfy((value: number) => Math.abs(value - seconds) < SLACK_SECONDS);
}

async function work(fields: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
  const answer = await app.call('POST', '/v1/work', { body: { queue: MINE, ...fields } });
  return { ...answer.body };
}

describe('B.1 S1.16 new jobs', () => {
  test('due later: its instant, in the one statement that stores it, and no poke', async () => {
    const before = app.http.endpoint.requests;
    await added(app, MINE, { delay_seconds: 90 });
    expect(await wakes()).toEqual([near(90)]);
    expect(app.http.endpoint.requests - before).toBeLessThanOrEqual(2); // the schema, once an isolate
    expect(app.pokes).toEqual([]);
  });

  test('due now: a poke, and nothing is timed', async () => {
    await added(app, MINE);
    expect(await wakes()).toEqual([]);
    expect(app.pokes).toEqual([{ queue: MINE, depth: 0 }]);
  });

  test('a batch: the earliest of its instants, once', async () => {
    const jobs = [300, 60, 120].map((seconds) => ({
      queue: MINE,
      type: 'task',
      payload: 1,
      delay_seconds: seconds,
    }));
    await app.call('POST', '/v1/jobs/batch', { body: { jobs } });
    expect(await wakes()).toEqual([near(60)]);
  });

  test('a batch that no chain of pokes can run: a poke, and a drain that sends many', async () => {
    const jobs = Array.from({ length: MAX_POKE_DEPTH + 2 }, () => ({
      queue: MINE,
      type: 'task',
      payload: 1,
    }));
    await app.call('POST', '/v1/jobs/batch', { body: { jobs } });
    expect(await wakes()).toEqual([near(0)]);
    expect(app.pokes).toHaveLength(1);
  });

  test('of queues that nobody serves here: nothing', async () => {
    await added(app, 'elsewhere', { delay_seconds: 90 });
    await added(app, 'elsewhere');
    expect(await wakes()).toEqual([]);
    expect(app.pokes).toEqual([]);
  });
});

describe('B.1 S1.16 attempts', () => {
  test('a claim: the end of its lease, whoever claims', async () => {
    await added(app, MINE);
    await forget();
    await work();
    expect(await wakes()).toEqual([near(LEASE_SECONDS)]);
    await added(app, 'pulled');
    await claimedOne(app, 'pulled', { lease_seconds: 600 });
    expect(await wakes()).toEqual([near(LEASE_SECONDS), near(600)]);
  });

  test('a retry and a snooze: when the job is due again', async () => {
    await app.call('PUT', `/v1/queues/${MINE}`, {
      body: { backoff_base_ms: 0, backoff_cap_ms: 50_000_000 },
    });
    run = () => {
      throw new Snooze(500, 'Not now.');
    };
    await added(app, MINE);
    await forget();
    expect(await work()).toMatchObject({ outcome: 'snoozed' });
    expect(await wakes()).toEqual([near(LEASE_SECONDS), near(500)]);
    run = () => {
      throw new TransientError('again', 'Again.');
    };
    await added(app, MINE);
    await forget();
    expect(await work()).toMatchObject({ outcome: 'retrying' });
    expect(await wakes()).toEqual([near(0), near(LEASE_SECONDS)]);
  });

  test('over HTTP: fail, snooze and release say when; a heartbeat moves nothing forward', async () => {
    for (let job = 0; job < 3; job += 1) await added(app, 'pulled');
    const [failing, snoozing, releasing] = [
      await claimedOne(app, 'pulled'),
      await claimedOne(app, 'pulled'),
      await claimedOne(app, 'pulled'),
    ];
    await forget();
    await report(app, failing, 'heartbeat', { step: 1 });
    expect(await wakes()).toEqual([]);
    const error = { code: 'x', message: 'No.' };
    await report(app, failing, 'fail', { error, class: 'transient', retry_after_seconds: 1000 });
    expect(await wakes()).toEqual([near(1000)]);
    await forget();
    await report(app, snoozing, 'snooze', { delay_seconds: 70 });
    expect(await wakes()).toEqual([near(70)]);
    await forget();
    await report(app, releasing, 'release');
    expect(await wakes()).toEqual([near(0)]);
  });

  test('the end of a job with a key: a drain, as only the database knows when the next may start', async () => {
    await added(app, MINE, { ordering_key: 'k' });
    await added(app, MINE, { ordering_key: 'k', delay_seconds: 40 });
    await forget();
    expect(await work()).toMatchObject({ outcome: 'succeeded', more_due: false });
    expect(await wakes()).toEqual([near(0), near(LEASE_SECONDS)]);
  });
});

describe('B.1 S1.16 what people change', () => {
  test('a queue that is resumed or changed: a poke and a drain; one that is paused: nothing', async () => {
    await app.call('POST', `/v1/queues/${MINE}/pause`, { body: {} });
    expect(await wakes()).toEqual([]);
    await app.call('POST', `/v1/queues/${MINE}/resume`, { body: {} });
    expect(await wakes()).toEqual([near(0)]);
    await forget();
    await app.call('PUT', `/v1/queues/${MINE}`, { body: { concurrency_limit: 9 } });
    expect(await wakes()).toEqual([near(0)]);
    expect(app.pokes).toHaveLength(1);
  });

  test('a job that is moved: its new instant, or a poke when that is over', async () => {
    const id = await added(app, MINE, { delay_seconds: 5000 });
    await forget();
    const inAMinute = new Date(Date.now() + 60_000).toISOString();
    await app.call('PATCH', `/v1/jobs/${id}`, { body: { due_at: inAMinute } });
    expect(await wakes()).toEqual([near(60)]);
    await forget();
    await app.call('PATCH', `/v1/jobs/${id}`, { body: { due_at: '2020-01-01T00:00:00Z' } });
    expect(await wakes()).toEqual([]);
    expect(app.pokes).toEqual([{ queue: MINE, depth: 0 }]);
  });

  test('a job that is called off: a drain, for the next of its key', async () => {
    const id = await added(app, MINE, { delay_seconds: 5000, ordering_key: 'k' });
    await forget();
    await app.call('POST', `/v1/jobs/${id}/cancel`, { body: {} });
    expect(await wakes()).toEqual([near(0)]);
  });

  test('a schedule that is made or resumed: its next slot', async () => {
    const at = new Date(Date.now() + 3 * 60_000);
    const cron = `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`;
    const seconds = (new Date(at).setUTCSeconds(0, 0) - Date.now()) / 1000;
    const body = { cron, zone: 'UTC', queue: MINE, type: 'task', payload: null };
    await app.call('PUT', '/v1/schedules/nightly', { body });
    expect(await wakes()).toEqual([near(seconds)]);
    await app.call('POST', '/v1/schedules/nightly/pause', { body: {} });
    expect(await wakes()).toEqual([near(seconds)]);
    await forget();
    await app.call('POST', '/v1/schedules/nightly/resume', { body: {} });
    expect(await wakes()).toEqual([near(seconds)]);
  });

  test('dead jobs that are sent back or given up: a drain, for the slow ones and the keys that are free', async () => {
    run = () => {
      throw new TransientError('never', 'Never.');
    };
    const ids = [
      await added(app, MINE, { max_attempts: 1 }),
      await added(app, MINE, { max_attempts: 1 }),
    ];
    await work();
    await work();
    await forget();
    await app.call('POST', '/v1/dead-letters/redrive', {
      body: { job_ids: [ids[0]], reason: 'mended' },
    });
    expect(await wakes()).toEqual([near(0)]);
    expect(app.pokes).toHaveLength(1);
    await forget();
    await app.call('POST', '/v1/dead-letters/discard', {
      body: { job_ids: [ids[1]], reason: 'no use' },
    });
    expect(await wakes()).toEqual([near(0)]);
  });
});

describe('S1.16 pokes that come to nothing', () => {
  async function workWith(outcome: PokeOutcome, jobs: number, depth = 0): Promise<void> {
    for (let job = 0; job < jobs; job += 1) await added(app, MINE);
    await forget();
    const deps = app.deps({
      poker: {
        send: async (poke) => {
          app.pokes.push(poke);
          return outcome;
        },
      },
    });
    const request = await app.request('POST', '/v1/work', { body: { queue: MINE, depth } });
    await createApp(deps).fetch(request);
  }

  test.each([
    ['taken', []],
    ['idle', []],
    ['sent', []],
    ['held', [0]],
    ['failed', [POKE_LOST_MS / 1000]],
  ] as const)('one that is %s asks for %j', async (outcome, seconds) => {
    await workWith(outcome, 2);
    expect(await wakes()).toEqual([...seconds.map(near), near(LEASE_SECONDS)]);
    expect(app.pokes).toEqual([{ queue: MINE, depth: 1 }]);
  });

  test('C.4 a chain at its bound sends none and asks for a drain, which starts afresh', async () => {
    await workWith('taken', 2, MAX_POKE_DEPTH);
    expect(await wakes()).toEqual([near(0), near(LEASE_SECONDS)]);
    expect(app.pokes).toEqual([]);
  });

  test('one that finds nothing asks for a drain: a limit may hold the work back; one of the drain does not', async () => {
    expect(await work({ depth: 3 })).toMatchObject({ outcome: 'empty' });
    expect(await wakes()).toEqual([near(0)]);
    await forget();
    expect(await work({ drain: true })).toMatchObject({ outcome: 'empty' });
    expect(await wakes()).toEqual([]);
  });

  test('with INSERT_POKES or CHAIN_POKES off the drain does it all', async () => {
    const config = { ...app.deps().config, insertPokes: false, chainPokes: false };
    const deps = app.deps({ config });
    const body = { queue: MINE, type: 'task', payload: 1 };
    for (let job = 0; job < 2; job += 1) {
      await app.callApp({ deps }, await app.request('POST', '/v1/jobs', { body }));
    }
    expect(await wakes()).toEqual([near(0), near(0)]);
    await forget();
    await app.callApp({ deps }, await app.request('POST', '/v1/work', { body: { queue: MINE } }));
    expect(await wakes()).toEqual([near(0), near(LEASE_SECONDS)]);
    expect(app.pokes).toEqual([]);
  });

  test('a wake clock that fails is a line in the log, and the answer is the same', async () => {
    const deps = app.deps({ wake: { wakeAt: () => Promise.reject(new Error('a secret name')) } });
    const body = { queue: MINE, type: 'task', payload: 1, delay_seconds: 60 };
    const answer = await app.callApp({ deps }, await app.request('POST', '/v1/jobs', { body }));
    expect(answer.status).toBe(201);
    await app.backgroundDone();
    const line = app.log.lines.find(({ event }) => event === 'wake_failed');
    expect(line).toMatchObject({ level: 'warn', fields: { reason: 'error' } });
    expect(app.log.text).not.toContain('a secret name');
  });
});
