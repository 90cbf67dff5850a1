import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { drain } from '../../functions/scheduled/drain.ts';
import type { AppDeps } from '../../functions/deps.ts';
import { webIds } from '../../functions/web-ports.ts';
import { defineHandler } from '../../shared/handler.ts';
import { MAX_CONCURRENT_POKES, MAX_DRAIN_POKES } from '../../shared/limits.ts';
import { claim } from '../../shared/queue/claim.ts';
import { enqueueBatch } from '../../shared/queue/enqueue-batch.ts';
import type { NewJob } from '../../shared/queue/new-job.ts';
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
      poker: {
        send: async ({ queue }) => {
          inFlight += 1;
          most = Math.max(most, inFlight);
          await Promise.resolve();
          inFlight -= 1;
          if (queue.endsWith('1')) throw new Error('lost');
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
