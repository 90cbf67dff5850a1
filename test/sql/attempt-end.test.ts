import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { claim } from '../../shared/queue/claim.ts';
import { complete } from '../../shared/queue/complete.ts';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { fail } from '../../shared/queue/fail.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { MAX_PAYLOAD_BYTES, MAX_RESULT_BYTES } from '../../shared/limits.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { added, claimed, expireLease, makeDue } from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const error = { code: 'timeout', message: 'No answer.' };

/** The JSON that grows most when it becomes jsonb: two characters of text, twelve bytes stored. */
function zeros(bytes: number): number[] {
  return Array.from({ length: bytes / 2 - 1 }, () => 0);
}

describe('leasehold.complete', () => {
  test('B.3 is repeated for its own owner only', async () => {
    await added(db.sql, { queue: 'own' });
    const job = await claimed(db.sql, 'own');
    await complete(db.sql, job);
    expect((await complete(db.sql, job)).outcome).toBe('succeeded');
    expect(await complete(db.sql, { ...job, owner: 'stranger' })).toEqual({
      outcome: 'lease_lost',
    });
  });

  test('keeps a result at the limit whatever it is made of', async () => {
    const jobId = await added(db.sql, { queue: 'full', payload: zeros(MAX_PAYLOAD_BYTES) });
    const job = await claimed(db.sql, 'full');
    await complete(db.sql, { ...job, result: zeros(MAX_RESULT_BYTES) });
    const kept = await getJob(db.sql, { jobId });
    expect(kept?.result_problem).toBeNull();
    expect(kept?.result).toEqual(zeros(MAX_RESULT_BYTES));
  });

  test('cuts the reason for a missing result to 200 characters', async () => {
    const jobId = await added(db.sql, { queue: 'reason' });
    const job = await claimed(db.sql, 'reason');
    await complete(db.sql, { ...job, resultProblem: 'x'.repeat(201) });
    expect((await getJob(db.sql, { jobId }))?.result_problem).toBe('x'.repeat(200));
  });
});

describe('leasehold.fail', () => {
  test('says that more is due, whether the job is retried or dead', async () => {
    for (const failureClass of ['transient', 'permanent'] as const) {
      const queue = `more due, ${failureClass}`;
      await configureQueue(db.sql, { queue, settings: { backoff_base_ms: 60_000 }, actor: 'test' });
      await added(db.sql, { queue });
      const job = await claimed(db.sql, queue);
      await added(db.sql, { queue });
      expect(await fail(db.sql, { ...job, error, failureClass })).toMatchObject({ moreDue: true });
      // The repeat after a lost answer says so as well.
      expect(await fail(db.sql, { ...job, error, failureClass })).toMatchObject({ moreDue: true });
    }
  });

  test('puts the job back into the lane of its priority', async () => {
    const urgent = await added(db.sql, { queue: 'lanes', priority: 'urgent' });
    await fail(db.sql, { ...(await claimed(db.sql, 'lanes')), error, failureClass: 'transient' });
    await added(db.sql, { queue: 'lanes', priority: 'normal' });
    await makeDue(db.pool, urgent);
    expect((await claimed(db.sql, 'lanes')).jobId).toBe(urgent);
  });

  test('ends a row of expiries: the next one is a first expiry again, claimed at once', async () => {
    const queue = 'spoke up';
    await configureQueue(db.sql, {
      queue,
      settings: { backoff_base_ms: 3_600_000, backoff_cap_ms: 3_600_000 },
      actor: 'test',
    });
    const jobId = await added(db.sql, { queue, maxAttempts: 9 });
    await claimed(db.sql, queue);
    await expireLease(db.pool, jobId);
    const second = await claimed(db.sql, queue);
    await fail(db.sql, { ...second, error, failureClass: 'transient' });
    await makeDue(db.pool, jobId);
    await claimed(db.sql, queue);
    await expireLease(db.pool, jobId);
    expect(await claim(db.sql, { queue, owner: 'w', claimId: uuidv7() })).toMatchObject({
      outcome: 'claimed',
      job: { jobId, attempt: 4 },
    });
  });

  test('cuts a code to 100 characters', async () => {
    const jobId = await added(db.sql, { queue: 'long code' });
    const job = await claimed(db.sql, 'long code');
    const code = 'c'.repeat(101);
    await fail(db.sql, { ...job, error: { code, message: 'm' }, failureClass: 'transient' });
    const { rows } = await db.pool.query(
      'select char_length(error_code) as chars from leasehold.attempts where job_id = $1',
      [jobId],
    );
    expect(rows).toEqual([{ chars: 100 }]);
  });
});
