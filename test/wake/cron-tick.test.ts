import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { cronTick } from '../../functions/scheduled/cron-tick.ts';
import { createAppHarness } from '../routes/support/app-harness.ts';
import type { AppHarness } from '../routes/support/app-harness.ts';

let app: AppHarness;
beforeAll(async () => {
  app = await createAppHarness();
});
afterAll(() => app.close());
beforeEach(() => {
  app.log.lines.length = 0;
});

async function requests(during: () => Promise<void>): Promise<number> {
  const before = app.http.endpoint.requests;
  await during();
  return app.http.endpoint.requests - before;
}

describe('C.4 a tick of the cron', () => {
  test('B.1 asks the wake clock, and the database nothing', async () => {
    let asked = 0;
    const clock = {
      check: async () => {
        asked += 1;
      },
    };
    expect(await requests(() => cronTick(app.deps(), clock))).toBe(0);
    expect(asked).toBe(1);
    expect(app.log.events).toEqual([]);
  });

  test('without a wake clock it is the drain', async () => {
    expect(await requests(() => cronTick(app.deps(), undefined))).toBeGreaterThan(0);
    expect(app.log.events).toContain('drained');
  });

  test('S1.16 with one that does not answer too, and nothing is asked of it', async () => {
    const deps = app.deps({ wake: { wakeAt: () => Promise.reject(new Error('away')) } });
    const clock = { check: () => Promise.reject(new Error('a secret name')) };
    expect(await requests(() => cronTick(deps, clock))).toBeGreaterThan(0);
    expect(app.log.events).toEqual(expect.arrayContaining(['wake_failed', 'drained']));
    expect(app.log.text).not.toContain('a secret name');
  });
});
