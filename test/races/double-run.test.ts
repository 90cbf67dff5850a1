import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { runOperationsOver } from '../../functions/run-operations-over.ts';
import { defineHandler } from '../../shared/handler.ts';
import { handlerRegistry } from '../../shared/handler-registry.ts';
import { claim } from '../../shared/queue/claim.ts';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { runJob } from '../../shared/run-job.ts';
import { added } from '../sql/support/lease-core.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createHttpSql, type HttpSql } from '../support/http-sql.ts';
import { NODE_PORTS } from '../support/pg-sql.ts';

let db: TestDatabase;
let http: HttpSql;
beforeAll(async () => {
  db = await createTestDatabase();
  http = await createHttpSql(db);
});
afterAll(async () => {
  await http.close();
  await db.drop();
});

const LEASE_SECONDS = 3;

describe('crash test (e): heartbeats are lost while the work goes on', () => {
  test('S1.5 the holder stops before anyone else can start: the window in which both run is empty', async () => {
    const queue = 'double-run';
    await configureQueue(db.sql, {
      queue,
      settings: { lease_seconds: LEASE_SECONDS },
      actor: 'test',
    });
    const jobId = await added(db.sql, { queue, type: 'long' });

    // In the order in which they happen.
    const order: string[] = [];
    const started = Promise.withResolvers<void>();
    const handler = defineHandler({
      queue,
      type: 'long',
      schema: z.unknown(),
      run: async (_job, context) => {
        order.push('a starts');
        started.resolve();
        await new Promise<void>((resolve) => {
          context.signal.addEventListener('abort', () => {
            order.push('a stops');
            resolve();
          });
        });
      },
    });

    const claimSentAt = NODE_PORTS.clock.now();
    const taken = await claim(http.sql, { queue, owner: 'a', claimId: uuidv7() });
    if (taken.outcome === 'empty') throw new Error('nothing claimed');
    // From here on no heartbeat reaches the database, and no report does either.
    http.endpoint.faults.next(
      { kind: 'drop_before' },
      { match: /leasehold\.(heartbeat|complete|fail)\(/, times: 1000 },
    );
    const a = runJob(
      {
        ...NODE_PORTS,
        operations: runOperationsOver({ sql: http.sql, feed: { changed: () => undefined } }),
        handlers: handlerRegistry([handler]),
      },
      { job: taken.job, owner: 'a', claimSentAt, invocationEndsAt: claimSentAt + 60_000 },
    );
    await started.promise;

    // The other one asks again and again, and gets the job as soon as the database lets it.
    let attempt = 0;
    while (attempt === 0) {
      const next = await claim(db.sql, { queue, owner: 'b', claimId: uuidv7() });
      if (next.outcome === 'claimed') {
        order.push('b starts');
        attempt = next.job.attempt;
      }
    }
    expect((await a).outcome).toMatch(/unknown|lease_lost/);
    http.endpoint.faults.clear();

    expect(attempt).toBe(2);
    expect(order).toEqual(['a starts', 'a stops', 'b starts']);
    expect(await getJob(db.sql, { jobId })).toMatchObject({
      state: 'running',
      lease: { owner: 'b' },
      attempts: [{ owner: 'a', outcome: 'lease_expired' }],
    });
  }, 60_000);
});
