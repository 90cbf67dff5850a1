import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cancel } from '../../shared/queue/cancel.ts';
import { complete } from '../../shared/queue/complete.ts';
import { enqueueBatch } from '../../shared/queue/enqueue-batch.ts';
import { enqueue } from '../../shared/queue/enqueue.ts';
import { fail } from '../../shared/queue/fail.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { claimed, eventTypes, makeDue, newJob } from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const error = { code: 'timeout', message: 'No answer.' };
const add = (queue: string, more: Partial<Parameters<typeof newJob>[0]> = {}) =>
  enqueue(db.sql, { job: newJob({ queue, dedupKey: 'K', ...more }), actor: 'test' });

describe('a dedup key', () => {
  test('gives the live job back, pending or running, and is free again when the job has ended', async () => {
    const first = await add('one');
    expect(await add('one')).toMatchObject({ outcome: 'duplicate', jobId: first.jobId });
    const lease = await claimed(db.sql, 'one');
    expect(await add('one')).toMatchObject({ outcome: 'duplicate', jobId: first.jobId });
    await complete(db.sql, lease);
    expect(await add('one')).toMatchObject({ outcome: 'created' });
  });

  test.each(['dead', 'cancelled'])('is free again when the job is %s', async (end) => {
    const { jobId } = await add(`end ${end}`);
    if (end === 'cancelled') await cancel(db.sql, { jobId, actor: 'test' });
    else
      await fail(db.sql, {
        ...(await claimed(db.sql, `end ${end}`)),
        error,
        failureClass: 'permanent',
      });
    expect((await getJob(db.sql, { jobId }))?.state).toBe(end);
    expect(await add(`end ${end}`)).toMatchObject({ outcome: 'created' });
  });

  test('case D1 a job that waits to be retried keeps its key, is not its own duplicate, and blocks no one', async () => {
    const first = await add('retry');
    await fail(db.sql, { ...(await claimed(db.sql, 'retry')), error, failureClass: 'transient' });
    expect(await add('retry')).toMatchObject({ outcome: 'duplicate', jobId: first.jobId });
    const other = await enqueue(db.sql, {
      job: newJob({ queue: 'retry', dedupKey: 'L' }),
      actor: 'test',
    });
    expect((await claimed(db.sql, 'retry')).jobId).toBe(other.jobId);
    await makeDue(db.pool, first.jobId);
    expect(await claimed(db.sql, 'retry')).toMatchObject({ jobId: first.jobId, attempt: 2 });
    const { rows } = await db.pool.query(
      `select dedup_key, count(*)::int as live from leasehold.job_state where queue = 'retry' group by 1 order by 1`,
    );
    expect(rows).toEqual([
      { dedup_key: 'K', live: 1 },
      { dedup_key: 'L', live: 1 },
    ]);
  });

  test('replace calls the pending job off in favour of the new one, and leaves a running one alone', async () => {
    const old = await add('replace', { payload: 'old', delayMs: 60_000 });
    const fresh = await add('replace', { payload: 'new', onDuplicate: 'replace' });
    expect(fresh).toMatchObject({ outcome: 'created' });
    expect(await getJob(db.sql, { jobId: old.jobId })).toMatchObject({
      state: 'cancelled',
      reason: `replaced by ${fresh.jobId}`,
    });
    expect(await eventTypes(db.pool, old.jobId)).toEqual(['created', 'cancelled']);
    expect((await claimed(db.sql, 'replace')).payload).toBe('new');
    expect(await add('replace', { onDuplicate: 'replace' })).toMatchObject({
      outcome: 'duplicate',
      jobId: fresh.jobId,
    });
  });

  test('keys of two queues do not meet, and neither do keys that join to the same text', async () => {
    expect((await add('a')).outcome).toBe('created');
    expect((await add('ab')).outcome).toBe('created');
    const pairs = [
      ['x', 'yz'],
      ['xy', 'z'],
    ] as const;
    for (const [queue, dedupKey] of pairs) {
      expect((await add(queue, { dedupKey })).outcome).toBe('created');
    }
  });

  test('within a batch the first job of a key counts, and a repeat of the batch changes nothing', async () => {
    const jobs = ['K', 'K', 'L', 'K'].map((dedupKey, i) =>
      newJob({ queue: 'batch', dedupKey, payload: i }),
    );
    const first = await enqueueBatch(db.sql, { jobs, actor: 'test' });
    expect(first.map((one) => one.outcome)).toEqual([
      'created',
      'duplicate',
      'created',
      'duplicate',
    ]);
    expect(first[1]?.jobId).toBe(jobs[0]?.id);
    const again = await enqueueBatch(db.sql, { jobs, actor: 'test' });
    expect(again.map((one) => [one.jobId, one.outcome])).toEqual([
      [jobs[0]?.id, 'exists'],
      [jobs[0]?.id, 'duplicate'],
      [jobs[2]?.id, 'exists'],
      [jobs[0]?.id, 'duplicate'],
    ]);
    const { rows } = await db.pool.query(
      `select count(*)::int as n from leasehold.job_state where queue = 'batch'`,
    );
    expect(rows).toEqual([{ n: 2 }]);
  });

  test.each(['read committed', 'repeatable read', 'serializable'])(
    'case D3 the second enqueue waits for the first, and adds the job when the first rolls back (%s)',
    async (level) => {
      const queue = `d3 ${level}`;
      const a = await db.pool.connect();
      const b = await db.pool.connect();
      const call = `select outcome, job_id from leasehold.enqueue(leasehold.new_job_id(), $1, 't', '1', p_dedup_key => 'K')`;
      try {
        await a.query('begin');
        await a.query(call, [queue]);
        await b.query(`begin isolation level ${level}`);
        const second = b.query<{ outcome: string; job_id: string }>(call, [queue]);
        await a.query('rollback');
        const { rows } = await second;
        await b.query('commit');
        expect(rows).toMatchObject([{ outcome: 'created' }]);
        expect(await getJob(db.sql, { jobId: rows[0]?.job_id ?? '' })).toMatchObject({
          state: 'pending',
        });
      } finally {
        a.release();
        b.release();
      }
    },
  );

  test('case D3 accepted always names a job that exists after commit, whoever wins', async () => {
    const racers = Array.from({ length: 60 }, (_, i) => add(`race ${i % 3}`));
    const answers = await Promise.all(racers);
    for (const queue of ['race 0', 'race 1', 'race 2']) {
      const ids = new Set(answers.filter((one) => one.queue === queue).map((one) => one.jobId));
      expect(ids.size).toBe(1);
      const [jobId] = ids;
      expect(await getJob(db.sql, { jobId: jobId ?? '' })).toMatchObject({ state: 'pending' });
    }
    expect(answers.filter((one) => one.outcome === 'created')).toHaveLength(3);
  });

  test.each([
    ['', 'dedup_key'],
    ['k'.repeat(201), 'dedup_key'],
    ['a\u0001', 'dedup_key'],
  ])('refuses a bad key by name', async (dedupKey, field) => {
    await expect(add('bad', { dedupKey })).rejects.toThrow(new RegExp(`${field}: give 1 to 200`));
  });

  test('case D5 the key is compared as it is: case, accents and composition differ, and nothing is folded', async () => {
    const keys = ['1', '01', 'é', 'e\u0301', 'K ', 'k', 'x'.repeat(200)];
    for (const dedupKey of keys) expect((await add('exact', { dedupKey })).outcome).toBe('created');
    for (const dedupKey of keys)
      expect((await add('exact', { dedupKey })).outcome).toBe('duplicate');
  });
});
