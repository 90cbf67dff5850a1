/** What reaches the database of an idle deployment, counted by its own endpoint. */
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { tick } from '../../functions/scheduled/tick.ts';
import { defineHandler } from '../../shared/handler.ts';
import type { Sql } from '../../shared/ports.ts';
import { createWakeWorld } from './support/wake-world.ts';
import type { WakeWorld, WakeWorldOptions } from './support/wake-world.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const QUEUE = 'mine';
/** Schedules, drain, retention, last tick: what one look into the database asks. */
const STATEMENTS_A_LOOK = 4;

let world: WakeWorld;
afterEach(() => world.close());

/** Jobs that ran, with the seconds that each was late. */
let ran: unknown[];

async function start(options: Partial<WakeWorldOptions> = {}): Promise<void> {
  ran = [];
  const handler = defineHandler({
    queue: QUEUE,
    type: 't',
    schema: z.unknown(),
    run: (job) => void ran.push(job.payload),
  });
  world = await createWakeWorld({ handlers: [handler], ...options });
  // The first look of a new deployment, and of its isolate at the schema.
  await world.check();
  await world.settle();
  await world.pass(MINUTE_MS);
}

async function enqueue(payload: unknown, fields: Record<string, unknown> = {}): Promise<string> {
  const answer = await world.call('POST', '/v1/jobs', {
    body: { queue: QUEUE, type: 't', payload, ...fields },
  });
  expect(answer.status).toBe(201);
  return String(answer.body['id']);
}

describe('B.1 an idle deployment leaves the database alone', () => {
  test('an hour with the sweep off and delayed jobs pending: nothing at all', async () => {
    await start({ sweepMs: null });
    await enqueue('later', { delay_seconds: 7200 });
    await enqueue('much later', { delay_seconds: 864_000 });
    await world.settle();
    expect(await world.requests(() => world.pass(HOUR_MS))).toBe(0);
    expect(await world.requests(() => world.pass(HOUR_MS))).toBeGreaterThan(0);
    expect(ran).toEqual(['later']);
  });

  test('with the sweep of an hour: the sweep and nothing else', async () => {
    await start();
    await enqueue('much later', { delay_seconds: 864_000 });
    await world.settle();
    const ticks = world.counts.ticks;
    expect(await world.requests(() => world.pass(58 * MINUTE_MS))).toBe(0);
    const swept = await world.requests(() => world.pass(2 * MINUTE_MS));
    // The hour of retention may have come by a hair, or not.
    expect([STATEMENTS_A_LOOK, STATEMENTS_A_LOOK + 1]).toContain(swept);
    expect(world.counts.ticks).toBe(ticks + 1);
    expect(await world.requests(() => world.pass(57 * MINUTE_MS))).toBe(0);
  });

  test('after a job has run: one look when its lease would have ended, then nothing', async () => {
    await start({ sweepMs: null });
    await enqueue('now');
    await world.settle();
    expect(ran).toEqual(['now']);
    expect(await world.requests(() => world.pass(MINUTE_MS))).toBe(STATEMENTS_A_LOOK);
    expect(await world.requests(() => world.pass(HOUR_MS))).toBe(0);
  });

  test('a queue that others pull from, or one that is paused, keeps nobody awake', async () => {
    await start({ sweepMs: null });
    await world.call('PUT', '/v1/queues/pulled', { body: { delivery: 'pull' } });
    await world.call('POST', '/v1/jobs', { body: { queue: 'pulled', type: 't', payload: 1 } });
    await world.call('POST', `/v1/queues/${QUEUE}/pause`, { body: {} });
    await enqueue('held');
    await world.settle();
    expect(await world.requests(() => world.pass(HOUR_MS))).toBe(0);
    expect(ran).toEqual([]);
  });

  test('docs/sleep.md names every statement of a look', async () => {
    await start();
    await world.app.database.pool.query('truncate leasehold.turns');
    const asked = new Set<string>();
    const { sql } = world.deps;
    const recording: Sql = {
      query: async (text, ...rest) => {
        for (const [, name] of text.matchAll(/leasehold\.(\w+)\(/g)) asked.add(name ?? '');
        return await sql.query(text, ...rest);
      },
    };
    await tick({ ...world.deps, sql: recording, schema: { verified: false } });
    expect(asked.size).toBe(7);
    const page = readFileSync('docs/sleep.md', 'utf8');
    expect([...asked].filter((name) => !page.includes(`leasehold.${name}`))).toEqual([]);
  });

  test('the health route and its callers touch nothing', async () => {
    await start({ sweepMs: null });
    const asked = world.requests(async () => {
      for (let probe = 0; probe < 60; probe += 1) {
        expect((await world.call('GET', '/v1/health', { scope: null })).status).toBe(200);
      }
    });
    expect(await asked).toBe(0);
  });
});

describe('B.1 a delayed job starts on time all the same', () => {
  test('a job delayed by 90 s, with the cron off, is looked for when it is due and not before', async () => {
    await start({ sweepMs: null });
    await enqueue('later', { delay_seconds: 90 });
    await world.settle();
    expect(await world.requests(() => world.pass(89_000, { cron: false }))).toBe(0);
    expect(ran).toEqual([]);
    await world.pass(1100, { cron: false });
    expect(ran).toEqual(['later']);
  });

  test('the earlier of two comes first, whichever was added first', async () => {
    await start({ sweepMs: null });
    await enqueue('second', { delay_seconds: 600 });
    await enqueue('first', { delay_seconds: 300 });
    await enqueue('third', { delay_seconds: 900 });
    await world.pass(HOUR_MS, { cron: false });
    expect(ran).toEqual(['first', 'second', 'third']);
  });
});
