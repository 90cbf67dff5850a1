/** Many jobs at once, where the platform refuses self-calls more than sixteen deep: the endpoint of these tests does. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { defineHandler } from '../../shared/handler.ts';
import {
  MAX_BATCH_JOBS,
  MAX_CONCURRENT_POKES,
  MAX_POKE_DEPTH,
  MAX_POKES_IN_FLIGHT_PER_QUEUE,
} from '../../shared/limits.ts';
import { doubleLeases } from '../support/lease-log.ts';
import { createWakeWorld } from './support/wake-world.ts';
import type { WakeWorld } from './support/wake-world.ts';

const QUEUE = 'mine';

let world: WakeWorld;
/** Runs of the handler at one time, and the most there were. */
let running: number;
let most: number;
afterEach(() => world.close());

async function start(work: () => Promise<unknown> = async () => undefined): Promise<void> {
  running = 0;
  most = 0;
  const handler = defineHandler({
    queue: QUEUE,
    type: 't',
    schema: z.unknown(),
    run: async () => {
      running += 1;
      most = Math.max(most, running);
      await work();
      running -= 1;
    },
  });
  world = await createWakeWorld({ handlers: [handler], sweepMs: null });
}

async function left(): Promise<number> {
  const { rows } = await world.app.database.pool.query<{ left: number }>(
    'select count(*)::int as left from leasehold.job_state',
  );
  return rows[0]?.left ?? 0;
}

async function finishedOnce(): Promise<number> {
  const { rows } = await world.app.database.pool.query<{ done: number }>(
    "select count(*)::int as done from leasehold.attempts where outcome = 'succeeded'",
  );
  expect(await doubleLeases(world.app.database.pool)).toEqual([]);
  return rows[0]?.done ?? 0;
}

describe('C.4 chains of pokes are bounded', () => {
  test('2,000 jobs enqueued at once drain to the end, and no self-call goes deeper than the platform lets it', async () => {
    await start();
    for (let sent = 0; sent < 2000; sent += MAX_BATCH_JOBS) {
      const jobs = Array.from({ length: MAX_BATCH_JOBS }, (_, payload) => ({
        queue: QUEUE,
        type: 't',
        payload,
      }));
      const answer = await world.call('POST', '/v1/jobs/batch', { body: { jobs } });
      expect(answer.status).toBe(201);
    }
    await world.settle();
    expect(await left()).toBe(0);
    expect(await finishedOnce()).toBe(2000);
    expect(world.counts.refused).toBe(0);
    expect(world.counts.deepest).toBe(MAX_POKE_DEPTH + 1);
    expect(most).toBeLessThanOrEqual(MAX_POKES_IN_FLIGHT_PER_QUEUE + MAX_CONCURRENT_POKES);
  }, 120_000);
});

describe('S1.16 a poke storm', () => {
  test('slow jobs come faster than they run: so many at a time, the drain has the rest, and no job is lost', async () => {
    await start(() => pause(50));
    const payloads = Array.from({ length: 1000 }, (_, payload) => payload).values();
    const producer = async (): Promise<void> => {
      for (const payload of payloads) {
        const body = { queue: QUEUE, type: 't', payload };
        expect((await world.call('POST', '/v1/jobs', { body })).status).toBe(201);
      }
    };
    await Promise.all(Array.from({ length: 32 }, producer));
    await world.settle();
    expect(await left()).toBe(0);
    expect(await finishedOnce()).toBe(1000);
    expect(world.counts.refused).toBe(0);
    expect(world.counts.ticks).toBeGreaterThan(0);
    expect(most).toBeGreaterThan(MAX_CONCURRENT_POKES);
    expect(most).toBeLessThanOrEqual(MAX_POKES_IN_FLIGHT_PER_QUEUE + MAX_CONCURRENT_POKES);
  }, 120_000);
});
