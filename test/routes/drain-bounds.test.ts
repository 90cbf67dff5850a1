import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';

import { drain } from '../../functions/scheduled/drain.ts';
import { webIds } from '../../functions/web-ports.ts';
import { defineHandler } from '../../shared/handler.ts';
import {
  MAX_BATCH_JOBS,
  MAX_DRAIN_POKES,
  MAX_DRAIN_QUEUES,
  MAX_DRAIN_SETTLED_JOBS,
  MAX_DRAIN_SETTLED_QUEUES,
} from '../../shared/limits.ts';
import { claim } from '../../shared/queue/claim.ts';
import { enqueueBatch } from '../../shared/queue/enqueue-batch.ts';
import { createAppHarness } from './support/app-harness.ts';
import type { AppHarness } from './support/app-harness.ts';

const SERVED = Array.from({ length: MAX_DRAIN_QUEUES + 1 }, (_, at) => `served-${at}`);

let app: AppHarness;
beforeAll(async () => {
  app = await createAppHarness({
    handlers: SERVED.map((queue) =>
      defineHandler({ queue, type: 't', schema: z.unknown(), run: () => undefined }),
    ),
  });
});
afterAll(() => app.close());

async function fill(queues: readonly string[]): Promise<void> {
  for (let at = 0; at < queues.length; at += MAX_BATCH_JOBS) {
    const jobs = queues
      .slice(at, at + MAX_BATCH_JOBS)
      .map((queue) => ({ id: webIds.uuidv7(), queue, type: 't', payload: null }));
    await enqueueBatch(app.database.sql, { jobs, actor: 'test' });
  }
}

test('a drain looks at so many queues and no more', async () => {
  await fill(SERVED);
  expect(await drain(app.deps())).toMatchObject({
    queues: MAX_DRAIN_QUEUES,
    pokes: MAX_DRAIN_POKES,
  });
  await app.database.pool.query('delete from leasehold.job_state');
});

test('a drain settles so many queues and leaves the rest to the next', async () => {
  const queues = Array.from({ length: MAX_DRAIN_SETTLED_QUEUES + 1 }, (_, at) => `crashed-${at}`);
  await fill(queues);
  for (const queue of queues) {
    await claim(app.database.sql, { queue, owner: 'gone', claimId: webIds.uuidv7() });
  }
  await app.database.pool.query(
    'update leasehold.job_state set due_at = clock_timestamp() where lane = 0',
  );
  expect(await drain(app.deps())).toMatchObject({ settled: MAX_DRAIN_SETTLED_QUEUES });
  expect(await drain(app.deps())).toMatchObject({ settled: 1 });
  await app.database.pool.query('delete from leasehold.job_state');
});

test('a drain settles so many expired leases of a queue and leaves the rest to the next', async () => {
  const queue = 'elsewhere';
  const count = MAX_DRAIN_SETTLED_JOBS + 1;
  await fill(Array.from({ length: count }, () => queue));
  for (let at = 0; at < count; at += 1) {
    await claim(app.database.sql, { queue, owner: 'gone', claimId: webIds.uuidv7() });
  }
  await app.database.pool.query(
    'update leasehold.job_state set due_at = clock_timestamp() where lane = 0',
  );
  expect(await drain(app.deps())).toMatchObject({ settled: MAX_DRAIN_SETTLED_JOBS });
  expect(await drain(app.deps())).toMatchObject({ settled: 1 });
});

test('a drain asks nothing more about queues that it can do nothing for', async () => {
  await app.database.pool.query('delete from leasehold.job_state');
  await fill(['elsewhere', 'nowhere']);
  await drain(app.deps()); // the isolate has seen its schema
  const before = app.http.endpoint.requests;
  await drain(app.deps());
  expect(app.http.endpoint.requests - before).toBe(1);
});

test('a drain refuses a schema that its code is too old for, and pokes nobody', async () => {
  app.pokes.length = 0;
  await fill(['served-0']);
  const become = (version: number): Promise<unknown> =>
    app.database.pool.query('update leasehold.schema_version set version = $1, oldest_code = $1', [
      version,
    ]);
  await become(99);
  try {
    const deps = app.deps({ schema: { verified: false } });
    await expect(drain(deps)).rejects.toMatchObject({ code: 'schema_mismatch' });
    expect(app.pokes).toEqual([]);
  } finally {
    await become(1);
  }
});

test('S1.16 queues that wait for another deployment do not hide the ones served here', async () => {
  await app.database.pool.query('delete from leasehold.job_state');
  app.pokes.length = 0;
  await fill(Array.from({ length: MAX_DRAIN_QUEUES }, (_, at) => `tenant-${at}`));
  await fill(['served-0']);
  expect(await drain(app.deps())).toMatchObject({ queues: 1, pokes: 1 });
  expect(app.pokes).toEqual([{ queue: 'served-0', depth: 0, drain: true }]);
});
