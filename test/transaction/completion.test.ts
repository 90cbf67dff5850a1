/** The writes of a handler are in the database exactly once: what can go wrong around its commit. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cancel } from '../../shared/queue/cancel.ts';
import { claim } from '../../shared/queue/claim.ts';
import { complete } from '../../shared/queue/complete.ts';
import { fail } from '../../shared/queue/fail.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { heartbeat } from '../../shared/queue/heartbeat.ts';
import { commitOnce, type CommitOutcome } from '../../shared/transaction/commit-once.ts';
import {
  completeIn,
  completeStatement,
  readCompleted,
  type CompletedJob,
} from '../../shared/transaction/complete-in-transaction.ts';
import { pgTransaction } from '../../shared/transaction/pg-transaction.ts';
import {
  attemptsOf,
  claimed,
  eventTypes,
  expireLease,
  snapshot,
} from '../sql/support/lease-core.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { heldLease, type HeldLease } from './support/held-lease.ts';
import { createNotes, notes } from './support/notes.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await createNotes(db.pool);
});
beforeEach(() => db.pool.query('truncate notes'));
afterAll(() => db.drop());

describe('completion in a transaction of the handler', () => {
  test('a crash between the completion and the commit undoes both, and the next attempt does both', async () => {
    const first = await heldLease(db.sql);
    const before = await snapshot(db.pool, first.jobId);
    const crashing = commitOnce(() =>
      inTransaction(async (client) => {
        await work(client, first, 'first');
        // Ends the backend as a killed function's connection does: without a commit.
        await client.query('select pg_terminate_backend(pg_backend_pid())');
      }),
    );
    await expect(crashing).rejects.toThrow(/terminat/);
    expect(await notes(db.pool)).toEqual([]);
    expect(await snapshot(db.pool, first.jobId)).toBe(before);

    await expireLease(db.pool, first.jobId);
    const second = await claimed(db.sql, first.queue, 'worker-b');
    expect(await once(second, 'second')).toMatchObject({ outcome: 'committed' });
    expect(await notes(db.pool)).toEqual(['second']);
    expect(await eventTypes(db.pool, first.jobId)).toEqual([
      'created',
      'claimed',
      'lease_expired',
      'claimed',
      'completed',
    ]);
  });

  test('a repeat writes nothing, however often, also when another report came in between', async () => {
    const lease = await heldLease(db.sql);
    expect(await once(lease, 'work')).toMatchObject({ outcome: 'committed' });
    expect(await once(lease, 'work')).toEqual({ outcome: 'already_committed' });
    expect(
      await fail(db.sql, { ...lease, failureClass: 'unknown', error: { code: 'x', message: 'x' } }),
    ).toEqual({
      outcome: 'lease_lost',
    });
    expect(await once(lease, 'work')).toEqual({ outcome: 'already_committed' });
    expect(await notes(db.pool)).toEqual(['work']);
    expect(await attemptsOf(db.pool, lease.jobId)).toHaveLength(1);
  });

  test('a repeat that meets the first try in flight waits, and writes only if that rolled back', async () => {
    for (const end of ['commit', 'rollback'] as const) {
      const lease = await heldLease(db.sql);
      const first = await db.pool.connect();
      await first.query('begin');
      await work(first, lease, `first, ${end}`);
      const repeat = once(lease, `repeat after ${end}`);
      await untilBlocked(db.pool);
      await first.query(end);
      first.release();
      expect((await repeat).outcome).toBe(end === 'commit' ? 'already_committed' : 'committed');
    }
    expect(await notes(db.pool)).toEqual(['first, commit', 'repeat after rollback']);
  });

  test('between the completion and the commit nobody else gets the job, though the lease runs out', async () => {
    const lease = await heldLease(db.sql, 1);
    const slow = await db.pool.connect();
    await slow.query('begin');
    await work(slow, lease, 'slow');
    await slow.query('select pg_sleep_until($1)', [lease.leaseExpiresAt.toISOString()]);
    await slow.query(`select pg_sleep(0.01)`);
    expect(await claim(db.sql, { queue: lease.queue, owner: 'b', claimId: randomUUID() })).toEqual({
      outcome: 'empty',
    });
    await slow.query('commit');
    slow.release();
    expect(await getJob(db.sql, { jobId: lease.jobId })).toMatchObject({ state: 'succeeded' });
    expect(await notes(db.pool)).toEqual(['slow']);
  });

  test.each([
    ['read committed', { outcome: 'lease_lost' }],
    // What a snapshot from before cannot say for sure is a serialization failure; the repeat then hears it.
    ['repeatable read', { code: '40001' }],
    ['serializable', { code: '40001' }],
  ])('a stale worker is rolled back at isolation level %s', async (level, heard) => {
    const stale = await heldLease(db.sql);
    const client = await db.pool.connect();
    await client.query(`begin isolation level ${level}`);
    await client.query(`insert into notes (note) values ('stale')`); // takes the snapshot
    await expireLease(db.pool, stale.jobId);
    await claimed(db.sql, stale.queue, 'worker-b');
    const late = commitOnce(() => completeIn(pgTransaction(client), stale));
    expect(await late.catch((error: unknown) => error)).toMatchObject(heard);
    await client.query('commit'); // of an aborted transaction: rolls back
    client.release();
    expect(await once(stale, 'stale')).toEqual({ outcome: 'lease_lost' });
    expect(await getJob(db.sql, { jobId: stale.jobId })).toMatchObject({ state: 'running' });
    expect(await notes(db.pool)).toEqual([]);
  });

  test('a lease that ran out without a successor is lost too', async () => {
    const lease = await heldLease(db.sql);
    await expireLease(db.pool, lease.jobId);
    expect(await once(lease, 'late')).toEqual({ outcome: 'lease_lost' });
    expect(await notes(db.pool)).toEqual([]);
  });

  test('another owner cannot complete with the token alone', async () => {
    const lease = await heldLease(db.sql);
    expect(await once({ ...lease, owner: 'worker-b' }, 'thief')).toEqual({
      outcome: 'lease_lost',
    });
    expect(await once({ ...lease, fencingToken: '999' }, 'guess')).toEqual({
      outcome: 'lease_lost',
    });
    expect(await notes(db.pool)).toEqual([]);
  });

  test('of a job that was called off, it says so, and the writes are kept', async () => {
    const lease = await heldLease(db.sql);
    await cancel(db.sql, { jobId: lease.jobId, actor: 'maria', reason: 'twice' });
    expect(await once(lease, 'done anyway')).toMatchObject({
      outcome: 'committed',
      value: { outcome: 'cancelled' },
    });
    expect(await notes(db.pool)).toEqual(['done anyway']);
    expect(await getJob(db.sql, { jobId: lease.jobId })).toMatchObject({ state: 'cancelled' });
  });

  test('a result that cannot be stored is stated, and the work stands', async () => {
    for (const result of [10n, 'x'.repeat(300_000), 'nul \u0000']) {
      const lease = await heldLease(db.sql);
      const end = await commitOnce(() =>
        inTransaction((client) => completeIn(pgTransaction(client), lease, result)),
      );
      expect(end).toMatchObject({ outcome: 'committed' });
      expect(await getJob(db.sql, { jobId: lease.jobId })).toMatchObject({
        state: 'succeeded',
        result: null,
        result_problem: expect.stringMatching(/^The result /) as string,
      });
    }
  });

  test('the reports of the runner afterwards change nothing', async () => {
    const lease = await heldLease(db.sql);
    await commitOnce(() =>
      inTransaction((client) => completeIn(pgTransaction(client), lease, 'of the transaction')),
    );
    const after = await snapshot(db.pool, lease.jobId);
    expect(await complete(db.sql, { ...lease, result: 'of the runner' })).toEqual({
      outcome: 'succeeded',
      moreDue: false,
    });
    expect(await heartbeat(db.sql, { ...lease, step: 9 })).toMatchObject({ outcome: 'lease_lost' });
    expect(await snapshot(db.pool, lease.jobId)).toBe(after);
    expect(await getJob(db.sql, { jobId: lease.jobId })).toMatchObject({
      result: 'of the transaction',
    });
  });

  test('an answer of another statement is refused', () => {
    expect(() => readCompleted([])).toThrow('no outcome');
    expect(() => readCompleted([{ outcome: 'lease_lost', more_due: false }])).toThrow('no outcome');
    expect(completeStatement({ jobId: 'j', owner: 'o', fencingToken: '7' }).values).toEqual([
      'j',
      'o',
      '7',
      null,
      null,
    ]);
  });
});

/** One try of a handler: its write, its completion, the commit. */
async function once(lease: HeldLease, note: string): Promise<CommitOutcome<CompletedJob>> {
  return await commitOnce(() => inTransaction((client) => work(client, lease, note)));
}

async function work(client: pg.PoolClient, lease: HeldLease, note: string): Promise<CompletedJob> {
  await client.query('insert into notes (note) values ($1)', [note]);
  return await completeIn(pgTransaction(client), lease);
}

async function inTransaction<Value>(
  run: (client: pg.PoolClient) => Promise<Value>,
): Promise<Value> {
  const client = await db.pool.connect();
  client.on('error', () => undefined); // a backend that the test ends on purpose
  try {
    await client.query('begin');
    const value = await run(client);
    await client.query('commit');
    client.release();
    return value;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/** Until a statement of this database waits for a lock. */
async function untilBlocked(pool: pg.Pool): Promise<void> {
  for (;;) {
    const { rowCount } = await pool.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (rowCount !== 0) return;
  }
}
