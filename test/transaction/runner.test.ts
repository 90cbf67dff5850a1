/** A handler that completes its job in a transaction of its own, under the runner that reports after it. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { handlerRegistry } from '../../shared/handler-registry.ts';
import { defineHandler, type HandlerContext } from '../../shared/handler.ts';
import { beginEffect } from '../../shared/queue/begin-effect.ts';
import { complete } from '../../shared/queue/complete.ts';
import { escalate } from '../../shared/queue/escalate.ts';
import { fail } from '../../shared/queue/fail.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { heartbeat } from '../../shared/queue/heartbeat.ts';
import { settleEffect } from '../../shared/queue/settle-effect.ts';
import { snooze } from '../../shared/queue/snooze.ts';
import type { RunOutcome } from '../../shared/report-ending.ts';
import { runJob } from '../../shared/run-job.ts';
import type { RunOperations } from '../../shared/run-operations.ts';
import { commitOnce } from '../../shared/transaction/commit-once.ts';
import {
  completeStatement,
  readCompleted,
} from '../../shared/transaction/complete-in-transaction.ts';
import { neonQuery } from '../../shared/transaction/neon-query.ts';
import { officialDriver, type OfficialDriver } from '../endpoint/support/official-driver.ts';
import { attemptsOf, eventTypes, expireLease } from '../sql/support/lease-core.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { NODE_PORTS } from '../support/pg-sql.ts';
import { heldLease, type HeldLease } from './support/held-lease.ts';
import { createNotes, notes } from './support/notes.ts';

let db: TestDatabase;
let driver: OfficialDriver;
beforeAll(async () => {
  db = await createTestDatabase();
  driver = await officialDriver(db);
  await createNotes(db.pool);
});
beforeEach(() => db.pool.query('truncate notes'));
afterAll(async () => {
  await driver.close();
  await db.drop();
});

describe('a handler that completes in its own transaction', () => {
  test('has succeeded for the runner too, and the result of the transaction stays', async () => {
    const job = await heldLease(db.sql);
    const run = await runUnder(job, async (context) => {
      expect(context.lease).toEqual({
        jobId: job.jobId,
        owner: job.owner,
        fencingToken: job.fencingToken,
      });
      await writeAndComplete(context);
      return 'of the handler';
    });
    expect(run).toEqual({ outcome: 'succeeded', moreDue: false });
    expect(await notes(db.pool)).toEqual(['work']);
    expect(await attemptsOf(db.pool, job.jobId)).toHaveLength(1);
    expect(await eventTypes(db.pool, job.jobId)).toEqual(['created', 'claimed', 'completed']);
    expect(await getJob(db.sql, { jobId: job.jobId })).toMatchObject({
      state: 'succeeded',
      result: 'of the transaction',
    });
  });

  test('repeats after a lost answer by itself', async () => {
    const job = await heldLease(db.sql);
    driver.endpoint.faults.next({ kind: 'drop_after_commit' }, { match: /leasehold\.complete/ });
    const run = await runUnder(job, async (context) => {
      const end = await writeAndComplete(context).catch(() => writeAndComplete(context));
      expect(end).toEqual({ outcome: 'already_committed' });
    });
    expect(run).toMatchObject({ outcome: 'succeeded' });
    expect(await notes(db.pool)).toEqual(['work']);
  });

  test('may as well throw on a lost answer: what is committed stays so', async () => {
    const job = await heldLease(db.sql);
    driver.endpoint.faults.next({ kind: 'drop_after_commit' }, { match: /leasehold\.complete/ });
    expect(await runUnder(job, writeAndComplete)).toEqual({ outcome: 'lease_lost' });
    expect(await getJob(db.sql, { jobId: job.jobId })).toMatchObject({ state: 'succeeded' });
    expect(await notes(db.pool)).toEqual(['work']);
  });

  test('is retried when the transaction never happened', async () => {
    const job = await heldLease(db.sql);
    driver.endpoint.faults.next({ kind: 'drop_before' }, { match: /leasehold\.complete/ });
    expect(await runUnder(job, writeAndComplete)).toMatchObject({ outcome: 'retrying' });
    expect(await notes(db.pool)).toEqual([]);
  });

  test('that lost its lease unawares leaves nothing, whatever it returns', async () => {
    const job = await heldLease(db.sql);
    const run = await runUnder(job, async (context) => {
      await expireLease(db.pool, job.jobId);
      return await writeAndComplete(context);
    });
    expect(run).toEqual({ outcome: 'lease_lost' });
    expect(await notes(db.pool)).toEqual([]);
    expect(await getJob(db.sql, { jobId: job.jobId })).toMatchObject({ finished_at: null });
  });
});

async function writeAndComplete({ lease }: HandlerContext): Promise<{ outcome: string }> {
  const { sql } = driver;
  return await commitOnce(async () => {
    const [, rows] = await sql.transaction([
      sql`insert into notes (note) values ('work')`,
      neonQuery(sql, completeStatement(lease, 'of the transaction')),
    ]);
    return readCompleted(rows);
  });
}

async function runUnder(
  job: HeldLease,
  run: (context: HandlerContext) => unknown,
): Promise<RunOutcome> {
  const handler = defineHandler({
    queue: job.queue,
    type: job.type,
    schema: z.unknown(),
    run: (_job, context) => run(context),
  });
  const now = NODE_PORTS.clock.now();
  return await runJob(
    { ...NODE_PORTS, operations: operations(), handlers: handlerRegistry([handler]) },
    { job, owner: job.owner, claimSentAt: now, invocationEndsAt: now + 30_000 },
  );
}

function operations(): RunOperations {
  return {
    heartbeat: (input) => heartbeat(db.sql, input),
    complete: (input) => complete(db.sql, input),
    fail: (input) => fail(db.sql, input),
    escalate: (input) => escalate(db.sql, input),
    snooze: (input) => snooze(db.sql, input),
    beginEffect: (input) => beginEffect(db.sql, input),
    settleEffect: (input) => settleEffect(db.sql, input),
  };
}
