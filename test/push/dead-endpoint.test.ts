import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createApp } from '../../functions/app.ts';
import type { AppDeps } from '../../functions/deps.ts';
import { createPoker } from '../../functions/poker.ts';
import { drain } from '../../functions/scheduled/drain.ts';
import { webIds } from '../../functions/web-ports.ts';
import { REPORT_MARGIN_MS } from '../../shared/limits.ts';
import { dueQueues } from '../../shared/queue/due-queues.ts';
import { enqueueBatch } from '../../shared/queue/enqueue-batch.ts';
import { getQueue } from '../../shared/queue/get-queue.ts';
import { POKE_KEY } from '../routes/support/app-harness.ts';
import { createPushApp } from './support/push-app.ts';
import type { PushApp } from './support/push-app.ts';

/** The receiver of the queue `hangs` never answers; a short lease makes each wait short. */
const LEASE_SECONDS = 1;
/** A wait of each claimer, and a slow machine. Served one after the other, the dead jobs alone would take 15 minutes. */
const HEALTHY_WITHIN_MS = 5_000;
const HEALTHY_WITHIN_WITH_ONE_CLAIMER_MS = 10_000;
const DEAD_JOBS = 1000;
const HEALTHY_JOBS = 10;
const RESTS_AFTER = 5;

let push: PushApp;
beforeAll(async () => {
  push = await createPushApp();
});
afterAll(() => push.close());

/** The app with pokes that arrive, as deployed: each is a request of its own to the same app. */
function deployed(): AppDeps {
  const deps: AppDeps = push.app.deps({
    poker: {
      send: (poke) =>
        createPoker({
          ...deps,
          baseUrl: new URL('https://leasehold.test'),
          key: POKE_KEY,
          fetch: (request) => createApp(deps).fetch(request),
        }).send(poke),
    },
  });
  return deps;
}

async function flood(name: string): Promise<{ hangs: string; healthy: string }> {
  const hangs = `hangs ${name}`;
  const healthy = `healthy ${name}`;
  await push.configure(hangs, '/hang', { lease_seconds: LEASE_SECONDS });
  await push.configure(healthy, '/in');
  const jobs = (queue: string, count: number): Parameters<typeof enqueueBatch>[1]['jobs'] =>
    Array.from({ length: count }, (_, at) => ({
      id: webIds.uuidv7(),
      queue,
      type: 'order.paid',
      payload: { at },
    }));
  const { sql } = push.app.database;
  await enqueueBatch(sql, { jobs: jobs(hangs, DEAD_JOBS), actor: 'tests' });
  await enqueueBatch(sql, { jobs: jobs(healthy, HEALTHY_JOBS), actor: 'tests' });
  push.receiver.received.length = 0;
  return { hangs, healthy };
}

const arrivals = (path: string): number[] =>
  push.receiver.received.filter((one) => one.path === path).map(({ at }) => at);

async function liveJobs(queue: string): Promise<number> {
  const { rows } = await push.app.database.pool.query<{ count: number }>(
    'select count(*)::int as count from leasehold.job_state where queue = $1',
    [queue],
  );
  return rows[0]?.count ?? -1;
}

/** How often the target of the queue was given a rest. */
async function rests(queue: string): Promise<number> {
  const { rows } = await push.app.database.pool.query<{ count: number }>(
    `select count(*)::int as count from leasehold.queue_events where queue = $1 and type = 'push_rested'`,
    [queue],
  );
  return rows[0]?.count ?? -1;
}

describe('case J7 an endpoint that hangs does not hold up the others', () => {
  test('five claimers: the drain', async () => {
    const { hangs, healthy } = await flood('five');
    const deps = deployed();
    const startedAt = Date.now();
    for (let pass = 0; pass < 5 && (await liveJobs(healthy)) > 0; pass += 1) {
      await drain(deps);
      await push.app.backgroundDone();
    }
    const last = Math.max(...arrivals('/in'));
    expect(arrivals('/in')).toHaveLength(HEALTHY_JOBS);
    expect(last - startedAt).toBeLessThan(HEALTHY_WITHIN_MS);

    // The dead one was asked a few times, and then rests: no poke, no claim, no attempt spent.
    await drain(deps);
    await push.app.backgroundDone();
    const asked = arrivals('/hang').length;
    expect(asked).toBeGreaterThanOrEqual(RESTS_AFTER);
    expect(asked).toBeLessThanOrEqual(2 * RESTS_AFTER);
    expect(await rests(hangs)).toBe(1);
    expect((await dueQueues(deps.sql, { limit: 10, perQueue: 10 })).queues).toEqual([]);
    expect(await push.work(hangs)).toMatchObject({ outcome: 'empty' });
    expect(arrivals('/hang')).toHaveLength(asked);
    expect(await liveJobs(hangs)).toBe(DEAD_JOBS);
    const { rows } = await push.app.database.pool.query<{ attempts: number }>(
      `select count(*)::int as attempts from leasehold.attempts a
       join leasehold.jobs j on j.id = a.job_id where j.queue = $1`,
      [hangs],
    );
    expect(rows[0]?.attempts).toBeLessThanOrEqual(asked);
  });

  test('one claimer, one job at a time', async () => {
    const { hangs, healthy } = await flood('one');
    const { sql } = deployed();
    const startedAt = Date.now();
    while ((await liveJobs(healthy)) > 0) {
      for (const { queue } of (await dueQueues(sql, { limit: 10, perQueue: 1 })).queues) {
        await push.work(queue);
      }
    }
    // Each round waits once for the dead one, until it rests.
    expect(Math.max(...arrivals('/in')) - startedAt).toBeLessThan(
      HEALTHY_WITHIN_WITH_ONE_CLAIMER_MS,
    );
    expect(arrivals('/hang')).toHaveLength(RESTS_AFTER);
    expect(await rests(hangs)).toBe(1);
    expect(await liveJobs(hangs)).toBe(DEAD_JOBS);
  });

  test('an answer ends the rest', async () => {
    await push.configure('recovers', '/in', { backoff_base_ms: 0, backoff_cap_ms: 0 });
    await push.enqueue('recovers', '{}', { max_attempts: 20, max_unknown_attempts: 20 });
    await push.receiver.answer({ status: 503 });
    for (let attempt = 1; attempt <= RESTS_AFTER; attempt += 1) await push.work('recovers');
    expect(await push.work('recovers')).toMatchObject({ outcome: 'empty' });
    expect((await getQueue(push.app.database.sql, { queue: 'recovers' }))?.push_resume_at).toMatch(
      /Z$/,
    );
    await push.makeDue('recovers');
    await push.receiver.answer({ status: 429 }); // it lives
    await push.work('recovers');
    expect(await getQueue(push.app.database.sql, { queue: 'recovers' })).toMatchObject({
      push_resume_at: null,
    });
    // The count began anew: four failures more are no reason to rest.
    await push.receiver.answer({ status: 503 });
    for (let attempt = 1; attempt < RESTS_AFTER; attempt += 1) {
      expect(await push.work('recovers')).toMatchObject({ outcome: 'retrying' });
    }
  });
});

test('nothing is claimed that could not be sent before the invocation ends', async () => {
  await push.receiver.answer({ status: 200 });
  await push.configure('late', '/in');
  const id = await push.enqueue('late', '{}');
  for (let i = 0; i < 5; i += 1) {
    expect(await push.work('late', { invocationMs: REPORT_MARGIN_MS })).toMatchObject({
      outcome: 'no_time',
    });
  }
  expect(await push.job(id)).toMatchObject({ state: 'pending', attempt: 0 });
  expect(await push.work('late')).toMatchObject({ outcome: 'succeeded' });
});
