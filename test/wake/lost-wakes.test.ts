/** Wake-ups are hints: lose them, double them, wipe what the clock keeps. All jobs finish, and none is leased twice. */
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { tick } from '../../functions/scheduled/tick.ts';
import { drain } from '../../functions/scheduled/drain.ts';
import { defineHandler } from '../../shared/handler.ts';
import { TransientError } from '../../shared/handler-errors.ts';
import { MAX_CONCURRENT_POKES, MAX_DRAIN_POKES } from '../../shared/limits.ts';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { doubleLeases } from '../support/lease-log.ts';
import { createWakeWorld } from './support/wake-world.ts';
import type { WakeWorld, WakeWorldOptions } from './support/wake-world.ts';

const MINUTE_MS = 60_000;
const QUEUE = 'mine';
const JOBS = 60;

let world: WakeWorld;
afterEach(() => world.close());

/** Every third job fails once, and is due again a minute later at most. */
async function start(options: Partial<WakeWorldOptions> = {}): Promise<void> {
  const handler = defineHandler({
    queue: QUEUE,
    type: 't',
    schema: z.number(),
    run: (job) => {
      if (job.payload % 3 === 0 && job.attempt === 1) throw new TransientError('once', 'Again.');
    },
  });
  world = await createWakeWorld({ handlers: [handler], ...options });
  await configureQueue(world.app.database.sql, {
    queue: QUEUE,
    settings: { backoff_base_ms: MINUTE_MS, backoff_cap_ms: MINUTE_MS },
    actor: 'test',
  });
}

/** A third due now, a third later, and a third by a schedule of retries. */
async function enqueueAll(): Promise<void> {
  const jobs = Array.from({ length: JOBS }, (_, payload) => ({
    queue: QUEUE,
    type: 't',
    payload,
    delay_seconds: payload % 2 === 0 ? 0 : payload,
  }));
  const answer = await world.call('POST', '/v1/jobs/batch', { body: { jobs } });
  expect(answer.status).toBe(201);
}

async function finished(): Promise<number> {
  const { rows } = await world.app.database.pool.query<{ done: number }>(
    "select count(*)::int as done from leasehold.finished_jobs where state = 'succeeded'",
  );
  return rows[0]?.done ?? 0;
}

async function outcome(): Promise<{ readonly finished: number; readonly faults: string[] }> {
  return {
    finished: await finished(),
    faults: await doubleLeases(world.app.database.pool),
  };
}

const ALL_ONCE = { finished: JOBS, faults: [] };

describe('S1.16 B.1 all jobs finish, and no lease is given twice', () => {
  test('as deployed, with no cron at all', async () => {
    await start({ sweepMs: null });
    await enqueueAll();
    await world.pass(10 * MINUTE_MS, { cron: false });
    expect(await outcome()).toEqual(ALL_ONCE);
  });

  test('every wake of a request is lost, and every poke: the sweeps do it', async () => {
    await start({ wakes: 'lost', pokes: 'lost' });
    await enqueueAll();
    await world.app.backgroundDone();
    expect(await finished()).toBe(0);
    await world.pass(4 * 60 * MINUTE_MS);
    expect(await outcome()).toEqual(ALL_ONCE);
  });

  test('every wake and every poke comes twice', async () => {
    await start({ sweepMs: null, wakes: 'doubled', pokes: 'doubled' });
    await enqueueAll();
    await world.pass(10 * MINUTE_MS, { cron: false });
    expect(await outcome()).toEqual(ALL_ONCE);
  });

  test('what the clock keeps is wiped again and again', async () => {
    await start({ sweepMs: null });
    await enqueueAll();
    for (let wiped = 0; wiped < 10; wiped += 1) {
      world.wipe();
      await world.pass(MINUTE_MS);
    }
    expect(await outcome()).toEqual(ALL_ONCE);
  });

  test('no wake clock at all: each tick of the cron is the drain', async () => {
    await start({ wakes: 'lost', sweepMs: null });
    await enqueueAll();
    for (let minute = 0; minute < 10; minute += 1) {
      await world.pass(MINUTE_MS, { cron: false });
      await tick(world.deps);
      await world.app.backgroundDone();
    }
    expect(await outcome()).toEqual(ALL_ONCE);
  });
});

describe('C.4 ten drains at once', () => {
  test('pokes are bounded, no queue is served twice its share, no job twice, and there is no error', async () => {
    const queues = ['a', 'b', 'c'];
    world = await createWakeWorld({
      handlers: queues.map((queue) =>
        defineHandler({ queue, type: 't', schema: z.unknown(), run: () => undefined }),
      ),
      config: { CHAIN_POKES: 'off' },
    });
    const depths = { a: 300, b: 300, c: 40 };
    for (const [queue, count] of Object.entries(depths)) {
      const jobs = Array.from({ length: count }, () => ({ queue, type: 't', payload: 1 }));
      await world.call('POST', '/v1/jobs/batch', { body: { jobs } });
    }
    await world.app.backgroundDone();
    const before = await servedByQueue();
    const inFlight = { now: 0, most: 0 };
    const { poker } = world.deps;
    const deps = {
      ...world.deps,
      poker: {
        send: async (poke: Parameters<typeof poker.send>[0]) => {
          inFlight.now += 1;
          inFlight.most = Math.max(inFlight.most, inFlight.now);
          const outcome = await poker.send(poke);
          inFlight.now -= 1;
          return outcome;
        },
      },
    };
    const reports = await Promise.all(Array.from({ length: 10 }, () => drain(deps)));
    const total = 10 * MAX_DRAIN_POKES;
    expect(reports.reduce((sum, { pokes }) => sum + pokes, 0)).toBeLessThanOrEqual(total);
    expect(reports.every(({ failedPokes }) => failedPokes === 0)).toBe(true);
    expect(inFlight.most).toBeLessThanOrEqual(10 * MAX_CONCURRENT_POKES);
    const after = await servedByQueue();
    const served = queues.map((queue) => (after.get(queue) ?? 0) - (before.get(queue) ?? 0));
    // Each has a third of the weight, and the two deep ones share what the third cannot use.
    const share = served.reduce((sum, count) => sum + count, 0) / queues.length;
    for (const count of served) expect(count).toBeLessThan(2 * share);
    expect(world.app.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
    expect(await doubleLeases(world.app.database.pool)).toEqual([]);
  });

  async function servedByQueue(): Promise<ReadonlyMap<string, number>> {
    const { rows } = await world.app.database.pool.query<{ queue: string; served: number }>(
      `select j.queue, count(*)::int as served
       from leasehold.attempts a join leasehold.jobs j on j.id = a.job_id group by j.queue`,
    );
    return new Map(rows.map(({ queue, served }) => [queue, served]));
  }
});
