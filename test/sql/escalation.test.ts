import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { claim } from '../../shared/queue/claim.ts';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { fail } from '../../shared/queue/fail.ts';
import type { FailureClass } from '../../shared/queue/failure-class.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import type { QueueSettings } from '../../shared/queue/queue-settings.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { added, claimed, eventTypes, makeDue } from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const set = (queue: string, settings: Partial<QueueSettings> = {}) =>
  configureQueue(db.sql, {
    queue,
    settings: { on_exhausted: 'escalate', ...settings },
    actor: 'test',
  });

async function failOnce(queue: string, jobId: string, failureClass: FailureClass = 'transient') {
  await makeDue(db.pool, jobId);
  const job = await claimed(db.sql, queue, 'agent-1');
  expect(job.jobId).toBe(jobId);
  return await fail(db.sql, {
    ...job,
    error: { code: 'no_answer', message: 'The shop did not answer.' },
    failureClass,
  });
}

/** Fails the job until it is not retried any more; how many failures that took. */
async function failUntilOut(
  queue: string,
  jobId: string,
  failureClass: FailureClass = 'transient',
): Promise<{ readonly failures: number; readonly outcome: string }> {
  for (let failures = 1; ; failures += 1) {
    const { outcome } = await failOnce(queue, jobId, failureClass);
    if (outcome !== 'pending') return { failures, outcome };
  }
}

describe('escalation', () => {
  test('S2.4 the third failure hands the job to people: no worker claims it a fourth time', async () => {
    await set('third');
    const jobId = await added(db.sql, { queue: 'third' });
    expect(await failUntilOut('third', jobId)).toEqual({ failures: 3, outcome: 'escalated' });
    expect(
      (await claim(db.sql, { queue: 'third', owner: 'agent-2', claimId: uuidv7() })).outcome,
    ).toBe('empty');

    const job = await getJob(db.sql, { jobId });
    expect(job).toMatchObject({
      state: 'escalated',
      attempt: 3,
      dead: null,
      escalated: {
        reason: 'failures_used_up',
        error: { code: 'no_answer', message: 'The shop did not answer.' },
        held_by: null,
        held_until: null,
        fencing_token: null,
      },
    });
    expect(job?.attempts.map(({ outcome, next_state }) => [outcome, next_state])).toEqual([
      ['failed', 'pending'],
      ['failed', 'pending'],
      ['failed', 'escalated'],
    ]);
    expect((await eventTypes(db.pool, jobId)).slice(-2)).toEqual(['failed', 'escalated']);
  });
});
