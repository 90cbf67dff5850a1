/** The poke that continues a chain, which a worker on Lambda serves itself or sends on. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';

import type { Invocation } from '../../functions/lambda/invocation.ts';
import { runPoke } from '../../functions/lambda/invocation.ts';
import { defineHandler } from '../../shared/handler.ts';
import { POKE_LOST_MS } from '../../shared/limits.ts';
import type { PokeOutcome } from '../../shared/ports.ts';
import { createAppHarness } from '../routes/support/app-harness.ts';
import type { AppHarness } from '../routes/support/app-harness.ts';
import { added } from '../routes/support/pull.ts';

const QUEUE = 'mine';

let app: AppHarness;
beforeAll(async () => {
  const run = (): string => 'done';
  app = await createAppHarness({
    handlers: [defineHandler({ queue: QUEUE, type: 'task', schema: z.unknown(), run })],
  });
});
afterAll(() => app.close());
beforeEach(async () => {
  await app.database.pool.query('truncate leasehold.job_state');
  for (let job = 0; job < 3; job += 1) await added(app, QUEUE);
  await app.backgroundDone();
  app.wakes.length = 0;
  app.pokes.length = 0;
});

/** Runs the event of a poke where pokes that are sent on come to `outcome`. */
async function poked(outcome: PokeOutcome, takesMoreMs: number): Promise<void> {
  const deps = app.deps({
    poker: {
      send: async (poke) => {
        app.pokes.push(poke);
        return outcome;
      },
    },
  });
  const invocation: Invocation = {
    kept: { ...deps, takesMoreMs },
    deps: () => deps,
    backgroundDone: () => app.backgroundDone(),
  };
  await runPoke(invocation, { queue: QUEUE, depth: 2 });
}

test('is sent on, one deeper, when the worker takes no more', async () => {
  await poked('sent', 0);
  expect(app.pokes).toEqual([{ queue: QUEUE, depth: 3 }]);
});

test('S1.16 leaves its work to a drain when it cannot be sent', async () => {
  const before = Date.now();
  await poked('failed', 0);
  expect(app.pokes).toHaveLength(1);
  const first = Math.min(...app.wakes);
  expect(first).toBeGreaterThanOrEqual(before + POKE_LOST_MS);
  expect(first).toBeLessThanOrEqual(Date.now() + POKE_LOST_MS);
});

test('is served here while the worker takes more', async () => {
  await poked('failed', 60_000);
  expect(app.pokes).toEqual([]);
  const { rows } = await app.database.pool.query('select 1 from leasehold.job_state');
  expect(rows).toEqual([]);
});
