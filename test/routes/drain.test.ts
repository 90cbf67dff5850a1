import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { drain } from '../../functions/scheduled/drain.ts';
import type { AppDeps } from '../../functions/deps.ts';
import { webIds } from '../../functions/web-ports.ts';
import { defineHandler } from '../../shared/handler.ts';
import { MAX_CONCURRENT_POKES, MAX_DRAIN_POKES } from '../../shared/limits.ts';
import { claim } from '../../shared/queue/claim.ts';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { enqueueBatch } from '../../shared/queue/enqueue-batch.ts';
import type { NewJob } from '../../shared/queue/new-job.ts';
import { setQueuePaused } from '../../shared/queue/set-queue-paused.ts';
import { createAppHarness } from './support/app-harness.ts';
import type { AppHarness } from './support/app-harness.ts';

const SERVED = Array.from({ length: 40 }, (_, at) => `served-${at}`);

let app: AppHarness;
beforeAll(async () => {
  app = await createAppHarness({
    handlers: SERVED.map((queue) =>
      defineHandler({ queue, type: 't', schema: z.unknown(), run: () => undefined }),
    ),
  });
});
afterAll(() => app.close());
beforeEach(async () => {
  await app.database.pool.query('delete from leasehold.job_state');
  app.pokes.length = 0;
});

async function fill(queue: string, count: number): Promise<void> {
  const jobs: NewJob[] = Array.from({ length: count }, () => ({
    id: webIds.uuidv7(),
    queue,
    type: 't',
    payload: null,
  }));
  await enqueueBatch(app.database.sql, { jobs, actor: 'test' });
}

/** Pokes that do what a poke does: the app claims one job and runs it. */
function pokingDeps(): AppDeps {
  return app.deps({
    poker: {
      send: async ({ queue, depth }) => {
        await app.call('POST', '/v1/work', { body: { queue, depth } });
        return 'taken';
      },
    },
  });
}

describe('S1.16 the drain alone empties the table', () => {
  test('with every other wake-up lost', async () => {
    for (const queue of SERVED.slice(0, 5)) await fill(queue, 20);
    let passes = 0;
    for (
      let report = await drain(pokingDeps());
      report.queues > 0;
      report = await drain(pokingDeps())
    ) {
      passes += 1;
      expect(report.pokes).toBeLessThanOrEqual(MAX_DRAIN_POKES);
    }
    const { rows } = await app.database.pool.query<{ left: number }>(
      'select count(*)::int as left from leasehold.job_state',
    );
    expect(rows[0]?.left).toBe(0);
    expect(passes).toBe(Math.ceil(100 / MAX_DRAIN_POKES));
  });

  test('also when it runs beside itself', async () => {
    await fill('served-0', 10);
    await Promise.all([drain(pokingDeps()), drain(pokingDeps())]);
    const { rows } = await app.database.pool.query<{ left: number }>(
      'select count(*)::int as left from leasehold.job_state',
    );
    expect(rows[0]?.left).toBe(0);
  });
});

test('pokes are bounded and spread: a deep queue does not keep the others waiting', async () => {
  await fill('served-0', 100);
  for (const queue of SERVED.slice(1, 4)) await fill(queue, 1);
  const report = await drain(app.deps());
  expect(report).toEqual({
    queues: 4,
    pokes: MAX_DRAIN_POKES,
    failedPokes: 0,
    settled: 0,
    failedSettlements: 0,
  });
  expect(app.pokes.slice(0, 4).map(({ queue }) => queue)).toEqual(SERVED.slice(0, 4));
  expect(app.pokes.filter(({ queue }) => queue === 'served-0')).toHaveLength(MAX_DRAIN_POKES - 3);
});

test('a poke that fails stops no other, and few are in flight', async () => {
  for (const queue of SERVED) await fill(queue, 1);
  let inFlight = 0;
  let most = 0;
  const report = await drain(
    app.deps({
      random: { next: () => 0 },
      poker: {
        send: async ({ queue }) => {
          inFlight += 1;
          most = Math.max(most, inFlight);
          await Promise.resolve();
          inFlight -= 1;
          return queue.endsWith('1') ? 'failed' : 'taken';
        },
      },
    }),
  );
  expect(report.pokes + report.failedPokes).toBe(MAX_DRAIN_POKES);
  expect(report.failedPokes).toBeGreaterThan(0);
  expect(most).toBe(MAX_CONCURRENT_POKES);
});

test('a queue that nobody serves is not poked, but its expired leases are settled', async () => {
  await fill('elsewhere', 2);
  await claim(app.database.sql, { queue: 'elsewhere', owner: 'gone', claimId: webIds.uuidv7() });
  await app.database.pool.query(
    "update leasehold.job_state set due_at = clock_timestamp() - interval '1 second' where lane = 0",
  );
  expect(await drain(app.deps())).toMatchObject({ queues: 1, pokes: 0, settled: 1 });
  expect(app.pokes).toEqual([]);
  const { rows } = await app.database.pool.query(
    'select 1 from leasehold.job_state where lane = 0',
  );
  expect(rows).toHaveLength(0);
  expect(await drain(app.deps())).toMatchObject({ settled: 0 });
});

describe('what a queue is decides what the drain does for it', () => {
  async function configure(queue: string, settings: Record<string, unknown>): Promise<void> {
    await configureQueue(app.database.sql, { queue, settings, actor: 'test' });
  }

  async function expireLease(queue: string): Promise<void> {
    await claim(app.database.sql, { queue, owner: 'gone', claimId: webIds.uuidv7() });
    await app.database.pool.query(
      `update leasehold.job_state set due_at = clock_timestamp() - interval '1 second'
       where lane = 0 and queue = $1`,
      [queue],
    );
  }

  test('pulled: not poked, even where there is a handler, but settled', async () => {
    await configure('served-20', { delivery: 'pull' });
    await fill('served-20', 2);
    await expireLease('served-20');
    expect(await drain(app.deps())).toMatchObject({ queues: 1, pokes: 0, settled: 1 });
    expect(app.pokes).toEqual([]);
  });

  test('pushed: poked, though no handler here serves it', async () => {
    await configure('pushed', { delivery: 'push', target_url: 'https://example.com/hook' });
    await fill('pushed', 2);
    expect(await drain(app.deps())).toMatchObject({ queues: 1, pokes: 2, settled: 0 });
    expect(app.pokes).toEqual([
      { queue: 'pushed', depth: 0, drain: true },
      { queue: 'pushed', depth: 0, drain: true },
    ]);
  });

  test('paused, or resting after failed pushes: left alone, its expired leases too', async () => {
    await fill('served-21', 2);
    await expireLease('served-21');
    await setQueuePaused(app.database.sql, { queue: 'served-21', paused: true, actor: 'test' });
    await configure('resting', { delivery: 'push', target_url: 'https://example.com/hook' });
    await fill('resting', 2);
    await app.database.pool.query(
      "update leasehold.queues set push_resume_at = clock_timestamp() + interval '1 hour' where name = 'resting'",
    );
    expect(await drain(app.deps())).toMatchObject({ queues: 0, pokes: 0, settled: 0 });
    await setQueuePaused(app.database.sql, { queue: 'served-21', paused: false, actor: 'test' });
    expect(await drain(app.deps())).toMatchObject({ queues: 1, pokes: 2 });
  });
});

describe('S1.15 a flooded queue leaves the others their weight', () => {
  /** Rows that are never claimed here need no job behind them. */
  async function flood(queue: string, jobs: number): Promise<void> {
    await app.database.pool.query(
      `insert into leasehold.job_state (job_id, due_at, max_attempts, lane, home_lane, queue)
       select gen_random_uuid(), clock_timestamp() - interval '1 hour', 5, 3, 3, $1 from generate_series(1, $2)`,
      [queue, jobs],
    );
  }

  test('over many drains, within a tenth, whatever the weights', async () => {
    const weights: readonly (readonly [queue: string, weight: number])[] = [
      ['served-1', 1],
      ['served-2', 2],
      ['served-3', 1],
      ['served-4', 5],
    ];
    for (const [queue, weight] of weights) {
      await configureQueue(app.database.sql, { queue, settings: { weight }, actor: 'test' });
    }
    await flood('served-1', 100_000);
    for (const [queue] of weights.slice(1)) await flood(queue, 100);
    const drains = 60;
    for (let at = 0; at < drains; at += 1) await drain(app.deps());
    const total = weights.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [queue, weight] of weights) {
      const got = app.pokes.filter((poke) => poke.queue === queue).length;
      const share = (drains * MAX_DRAIN_POKES * weight) / total;
      expect(got / share).toBeGreaterThan(0.9);
      expect(got / share).toBeLessThan(1.1);
    }
  });

  test('a job that comes into a quiet queue is poked for by the next drain', async () => {
    await flood('served-5', 5000);
    for (let at = 0; at < 10; at += 1) {
      app.pokes.length = 0;
      await app.database.pool.query("delete from leasehold.job_state where queue = 'served-6'");
      await fill('served-6', 3);
      await drain(app.deps());
      expect(app.pokes.filter(({ queue }) => queue === 'served-6')).toHaveLength(3);
    }
  });
});
