/** The next job of an ordering key may be due at a time that only the database knows, in the middle of a chain too. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';

import { defineHandler } from '../../shared/handler.ts';
import { POKE_LOST_MS } from '../../shared/limits.ts';
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

test('B.1 S1.14 a chain that goes on with other jobs asks for a drain for the key that has had its starts', async () => {
  const settings = { key_rate_limit: 1, key_rate_interval_ms: 5000, lease_seconds: 600 };
  const put = await app.call('PUT', `/v1/queues/${QUEUE}`, { body: settings });
  expect(put.status).toBe(200);
  await added(app, QUEUE, { ordering_key: 'k' });
  await added(app, QUEUE, { ordering_key: 'k' });
  await added(app, QUEUE);
  await app.backgroundDone();
  app.pokes.length = 0;
  app.wakes.length = 0;
  const before = Date.now();
  const { body } = await app.call('POST', '/v1/work', { body: { queue: QUEUE } });
  await app.backgroundDone();
  expect(body).toMatchObject({ outcome: 'succeeded', more_due: true });
  expect(app.pokes).toEqual([{ queue: QUEUE, depth: 1 }]);
  const first = Math.min(...app.wakes);
  expect(first).toBeGreaterThanOrEqual(before);
  expect(first).toBeLessThanOrEqual(Date.now() + POKE_LOST_MS);
});
