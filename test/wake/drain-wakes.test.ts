/** What a drain asks of the wake clock, and what it makes of its pokes. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';

import type { AppDeps } from '../../functions/deps.ts';
import { drain } from '../../functions/scheduled/drain.ts';
import { fireSchedules } from '../../functions/scheduled/schedules.ts';
import { webClock, webIds } from '../../functions/web-ports.ts';
import { defineHandler } from '../../shared/handler.ts';
import { MAX_DRAIN_MS, MAX_DRAIN_POKES } from '../../shared/limits.ts';
import type { PokeOutcome } from '../../shared/ports.ts';
import { enqueueBatch } from '../../shared/queue/enqueue-batch.ts';
import { putSchedule } from '../../shared/queue/put-schedule.ts';
import { createAppHarness } from '../routes/support/app-harness.ts';
import type { AppHarness } from '../routes/support/app-harness.ts';

const QUEUE = 'mine';
const SLACK_SECONDS = 1.5;

let app: AppHarness;
beforeAll(async () => {
  app = await createAppHarness({
    handlers: [
      defineHandler({ queue: QUEUE, type: 't', schema: z.unknown(), run: () => undefined }),
    ],
  });
});
afterAll(() => app.close());
beforeEach(async () => {
  await app.database.pool.query('truncate leasehold.job_state, leasehold.schedules');
  app.wakes.length = 0;
  app.pokes.length = 0;
  app.log.lines.length = 0;
});

async function fill(count: number, delayMs = 0): Promise<void> {
  const jobs = Array.from({ length: count }, () => ({
    id: webIds.uuidv7(),
    queue: QUEUE,
    type: 't',
    payload: null,
    delayMs,
  }));
  await enqueueBatch(app.database.sql, { jobs, actor: 'test' });
}

/** Everything that is due has been so for this long. */
async function dueFor(seconds: number): Promise<void> {
  await app.database.pool.query(
    'update leasehold.job_state set due_at = clock_timestamp() - make_interval(secs => $1)',
    [seconds],
  );
}

function withPokes(outcome: PokeOutcome, others: Partial<AppDeps> = {}): AppDeps {
  return app.deps({
    poker: {
      send: async (poke) => {
        app.pokes.push(poke);
        return outcome;
      },
    },
    ...others,
  });
}

/** The instants asked for, in order, in seconds from now. */
function asked(): number[] {
  return app.wakes.map((at) => (at - Date.now()) / 1000);
}

function near(seconds: number): unknown {
  return expect.toSatisfy((value: number) => Math.abs(value - seconds) < SLACK_SECONDS);
}

describe('B.1 one timer', () => {
  test('nothing is due and nothing waits: none', async () => {
    await drain(app.deps());
    expect(asked()).toEqual([]);
  });

  test('nothing is due: the first instant at which something is', async () => {
    await fill(2, 500_000);
    await fill(1, 300_000);
    await drain(app.deps());
    expect(asked()).toEqual([near(300)]);
  });

  test('work that nobody takes is looked at again after as long as it has been due', async () => {
    await fill(3);
    await dueFor(600);
    await fill(1, 5_000_000);
    await drain(withPokes('idle'));
    expect(asked()).toEqual([near(600)]);
    app.wakes.length = 0;
    await fill(1, 200_000);
    await drain(withPokes('failed'));
    expect(asked()).toEqual([near(200)]);
  });

  test('work behind what was taken: at once', async () => {
    await fill(MAX_DRAIN_POKES + 1);
    await dueFor(600);
    await drain(withPokes('taken'));
    expect(asked()).toEqual([near(600), near(0)]);
  });

  test('all that is due was taken: nothing more', async () => {
    await fill(MAX_DRAIN_POKES - 1);
    await drain(withPokes('taken'));
    expect(asked()).toEqual([near(1)]);
  });

  test('where nobody waits for what pokes come to, the age alone decides', async () => {
    await fill(MAX_DRAIN_POKES + 1);
    await dueFor(60);
    await drain(withPokes('sent'));
    expect(asked()).toEqual([near(60)]);
  });

  test('a clock that does not take it: the pokes go out, and the drain fails for the platform to repeat', async () => {
    await fill(2);
    const wake = { wakeAt: () => Promise.reject(new Error('throttled')) };
    await expect(drain(withPokes('taken', { wake }))).rejects.toThrow('throttled');
    expect(app.pokes).toHaveLength(2);
  });
});

describe('C.4 pokes of a drain', () => {
  test.each([
    ['taken', { pokes: 3, failedPokes: 0 }],
    ['sent', { pokes: 3, failedPokes: 0 }],
    ['idle', { pokes: 3, failedPokes: 0 }],
    ['held', { pokes: 0, failedPokes: 3 }],
    ['failed', { pokes: 0, failedPokes: 3 }],
  ] as const)('three that are %s count as %j', async (outcome, counts) => {
    await fill(3);
    expect(await drain(withPokes(outcome))).toMatchObject(counts);
    expect(app.log.lines.at(-1)).toMatchObject({
      event: 'drained',
      fields: { pokes: counts.pokes, failed_pokes: counts.failedPokes },
    });
  });

  test('none goes out after its time, and what is left waits for the next drain', async () => {
    await fill(MAX_DRAIN_POKES + 1);
    let now = webClock.now();
    const slow = withPokes('taken', { clock: { now: () => (now += MAX_DRAIN_MS / 10) } });
    const { pokes } = await drain(slow);
    expect(pokes).toBeLessThan(MAX_DRAIN_POKES);
    expect(app.wakes).toHaveLength(2);
  });
});

test('B.1 a schedule that cannot be decided is tried again after as long as it has been due', async () => {
  const schedule = {
    name: 'broken',
    cron: '* * * * *',
    zone: 'UTC',
    queue: QUEUE,
    type: 't',
    payload: null,
    priority: 'normal',
    max_attempts: null,
    missed: 'latest',
    missed_limit: 1,
    overlap: 'allow',
  } as const;
  const nextSlotAt = new Date(Date.now() - 240_000).toISOString();
  await putSchedule(app.database.sql, { schedule, nextSlotAt, actor: 'test' });
  await app.database.pool.query("update leasehold.schedules set zone = 'Mars/Base'");
  expect(await fireSchedules(app.deps())).toMatchObject({ failed: 1, decided: 0 });
  expect(asked()).toEqual([near(240)]);
});
