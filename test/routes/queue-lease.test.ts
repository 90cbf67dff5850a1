import { expect, test } from 'vitest';
import { z } from 'zod';

import { defineHandler } from '../../shared/handler.ts';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { createAppHarness } from './support/app-harness.ts';

test.each([
  ['its own when it declares one', 7, 7],
  ["the queue's when it does not", undefined, 12],
])('a handler gets a lease of %s', async (_, leaseSeconds, expected) => {
  const leases: number[] = [];
  const handler = defineHandler({
    queue: 'leased',
    type: 'look',
    schema: z.unknown(),
    ...(leaseSeconds && { leaseSeconds }),
    run: async () => {
      const { rows } = await app.database.pool.query<{ seconds: number }>(
        'select lease_seconds as seconds from leasehold.job_state where lane = 0',
      );
      leases.push(...rows.map(({ seconds }) => seconds));
    },
  });
  const app = await createAppHarness({ handlers: [handler] });
  try {
    await configureQueue(app.database.sql, {
      queue: 'leased',
      settings: { lease_seconds: 12 },
      actor: 'test',
    });
    await app.call('POST', '/v1/jobs', { body: { queue: 'leased', type: 'look', payload: null } });
    await app.call('POST', '/v1/work', { body: { queue: 'leased', depth: 0 } });
    expect(leases).toEqual([expected]);
  } finally {
    await app.close();
  }
});
