/** The same promises through every library that a producer may have open. */
import { inspect } from 'node:util';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JsonValue } from '../../shared/json-value.ts';
import { claim } from '../../shared/queue/claim.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { commitOnce } from '../../shared/transaction/commit-once.ts';
import { completeIn } from '../../shared/transaction/complete-in-transaction.ts';
import { enqueueIn } from '../../shared/transaction/enqueue-in-transaction.ts';
import { pokesAfterCommit } from '../../shared/transaction/pokes-after-commit.ts';
import { claimed, expireLease, newJob } from '../sql/support/lease-core.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { DRIVERS, type Driver } from './support/drivers.ts';
import { createNotes, notes } from './support/notes.ts';

const ACTOR = { actor: 'shop' };

/** Values that drivers are known to encode each in their own way. */
const PAYLOADS: readonly JsonValue[] = [
  [],
  [1, 'two', null, [3, [4]]],
  ['{"a": 1}', '{1,2}'],
  { list: [], nested: { list: [[]] } },
  '1',
  '"quoted"',
  '{"looks": "like json"}',
  '2026-11-30T08:00:00.000Z',
  null,
  true,
  0,
  'ünïcödé 🚀 \\ \' " $1 \t\n',
];

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await createNotes(db.pool);
});
beforeEach(() => db.pool.query('truncate notes'));
afterAll(() => db.drop());

describe.each(Object.entries(DRIVERS))('%s', (_name, open) => {
  let driver: Driver;
  beforeAll(async () => {
    driver = await open(db.pgUrl);
  });
  afterAll(() => driver.close());

  test('a job and a row of the caller are committed together', async () => {
    const job = newJob({ priority: 'high', maxAttempts: 7, delayMs: 60_000, tags: ['a', 'b'] });
    const added = await driver.transact(async ({ transaction, write }) => {
      await write('order');
      const jobs = await enqueueIn(transaction, [job], ACTOR);
      expect(await getJob(db.sql, { jobId: job.id })).toBeUndefined();
      return jobs;
    });
    const stored = await getJob(db.sql, { jobId: job.id });
    expect(stored).toMatchObject({ state: 'pending', created_by: 'shop', payload: job.payload });
    expect(added).toEqual([
      {
        jobId: job.id,
        outcome: 'created',
        queue: job.queue,
        type: job.type,
        priority: 'high',
        maxAttempts: 7,
        dueAt: new Date(stored?.due_at ?? ''),
        createdAt: new Date(stored?.created_at ?? ''),
      },
    ]);
    expect(await notes(db.pool)).toEqual(['order']);
  });

  test('they are rolled back together', async () => {
    const job = newJob();
    const failing = driver.transact(async ({ transaction, write }) => {
      await write('order');
      await enqueueIn(transaction, [job], ACTOR);
      throw new Error('no stock');
    });
    await expect(failing).rejects.toThrow('no stock');
    expect(await getJob(db.sql, { jobId: job.id })).toBeUndefined();
    expect(await notes(db.pool)).toEqual([]);
  });

  test('a refused job takes the rows of the caller with it', async () => {
    const failing = driver.transact(async ({ transaction, write }) => {
      await write('order');
      await enqueueIn(transaction, [newJob(), newJob({ queue: ' ' })], ACTOR);
    });
    const error: unknown = await failing.catch((thrown: unknown) => thrown);
    expect(inspect(error, { depth: 6 })).toContain('jobs[1].queue: ');
    expect(await notes(db.pool)).toEqual([]);
  });

  test('a poke goes out after the commit, when everybody sees the job', async () => {
    const job = newJob();
    const seen: unknown[] = [];
    const pokes = pokesAfterCommit({
      send: async ({ queue }) => {
        seen.push(queue, (await getJob(db.sql, { jobId: job.id }))?.state);
        return 'taken';
      },
    });
    await driver.transact(async ({ transaction }) => {
      pokes.add(await enqueueIn(transaction, [job], ACTOR));
    });
    expect(seen).toEqual([]);
    await pokes.committed();
    expect(seen).toEqual([job.queue, 'pending']);
  });

  test('a batch is answered in its order, repeats and duplicates are told', async () => {
    const first = newJob({ dedupKey: uuidv7() });
    const second = newJob({ delayMs: 10 });
    const twin = newJob({ dedupKey: first.dedupKey ?? '' });
    await driver.transact(({ transaction }) => enqueueIn(transaction, [first], ACTOR));
    const answers = await driver.transact(({ transaction }) =>
      enqueueIn(transaction, [second, first, twin], ACTOR),
    );
    expect(answers.map(({ jobId, outcome }) => [jobId, outcome])).toEqual([
      [second.id, 'created'],
      [first.id, 'exists'],
      [first.id, 'duplicate'],
    ]);
  });

  test('case K5 JSON arrives as it was given, lists and texts that look like JSON among it', async () => {
    const jobs = PAYLOADS.map((payload) => newJob({ payload, headers: { list: [1, '2'] } }));
    await driver.transact(({ transaction }) => enqueueIn(transaction, jobs, ACTOR));
    const { rows } = await db.pool.query<{ payload: string; headers: string }>(
      `select j.payload::text, j.headers::text from leasehold.jobs j
       join unnest($1::uuid[]) with ordinality i (id, ord) on i.id = j.id order by i.ord`,
      [jobs.map(({ id }) => id)],
    );
    expect(rows.map(({ payload }) => JSON.parse(payload) as JsonValue)).toEqual(PAYLOADS);
    expect(new Set(rows.map(({ headers }) => headers))).toEqual(new Set(['{"list": [1, "2"]}']));
  });

  describe('a handler', () => {
    let queue: string;
    beforeEach(() => {
      queue = uuidv7();
    });

    test('completes with its writes, and case K5 the result is stored as it is', async () => {
      const results = [['a', ['b']], '1', { sent: true }, null, undefined];
      for (const result of results) {
        const lease = await heldLease(queue);
        const end = await commitOnce(() =>
          driver.transact(async ({ transaction, write }) => {
            await write('sent');
            return await completeIn(transaction, lease, result);
          }),
        );
        expect(end).toEqual({
          outcome: 'committed',
          value: { outcome: 'succeeded', moreDue: false },
        });
        const stored = await getJob(db.sql, { jobId: lease.jobId });
        expect(stored).toMatchObject({ state: 'succeeded', result: result ?? null });
      }
      expect(await notes(db.pool)).toEqual(results.map(() => 'sent'));
    });

    test('that lost its lease writes nothing', async () => {
      const stale = await heldLease(queue);
      await expireLease(db.pool, stale.jobId);
      const now = await claimed(db.sql, queue, 'worker-b');
      expect(now.jobId).toBe(stale.jobId);
      const work = (lease: typeof stale, note: string): ReturnType<typeof commitOnce> =>
        commitOnce(() =>
          driver.transact(async ({ transaction, write }) => {
            await write(note);
            return await completeIn(transaction, lease);
          }),
        );
      expect(await work(stale, 'stale')).toEqual({ outcome: 'lease_lost' });
      expect(await work(now, 'now')).toMatchObject({ outcome: 'committed' });
      expect(await work(stale, 'late')).toEqual({ outcome: 'lease_lost' });
      expect(await work(now, 'again')).toEqual({ outcome: 'already_committed' });
      expect(await notes(db.pool)).toEqual(['now']);
    });
  });
});

async function heldLease(queue: string): ReturnType<typeof claimed> {
  const job = newJob({ queue });
  await enqueueIn({ run: ({ text, values }) => db.pool.query(text, [...values]) }, [job], ACTOR);
  const taken = await claimed(db.sql, queue);
  expect(taken.jobId).toBe(job.id);
  expect(await claim(db.sql, { queue, owner: 'x', claimId: uuidv7() })).toEqual({
    outcome: 'empty',
  });
  return taken;
}
