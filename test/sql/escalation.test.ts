import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cancel } from '../../shared/queue/cancel.ts';
import { claim } from '../../shared/queue/claim.ts';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { discard } from '../../shared/queue/discard.ts';
import { escalate } from '../../shared/queue/escalate.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { listDeadLetters } from '../../shared/queue/list-dead-letters.ts';
import { matchingDeadLetters } from '../../shared/queue/matching-dead-letters.ts';
import { redrive } from '../../shared/queue/redrive.ts';
import { settle } from '../../shared/queue/settle.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { escalated, escalating, eventsOf, failOnce, failUntilOut } from './support/escalated.ts';
import { added, claimed, expireLease, makeDue, snapshot } from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const reasonOf = async (jobId: string) => (await getJob(db.sql, { jobId }))?.escalated?.reason;
const nothingDue = async (queue: string) => {
  const taken = await claim(db.sql, { queue, owner: 'agent-2', claimId: uuidv7() });
  expect(taken.outcome).toBe('empty');
};

describe('leasehold.escalates_after: a job escalates', () => {
  test('S2.4 at its third failure: no worker claims it a fourth time', async () => {
    await escalating(db, 'third');
    const jobId = await added(db.sql, { queue: 'third' });
    expect(await failUntilOut(db, 'third', jobId)).toEqual([3, 'escalated']);
    await nothingDue('third');

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
    expect((await eventsOf(db, jobId)).slice(-2)).toMatchObject([
      { type: 'failed', actor: 'agent-1', token: '3' },
      { type: 'escalated', actor: 'agent-1', token: '3', details: { reason: 'failures_used_up' } },
    ]);
  });

  test('S2.4 a crash counts as a failure, whoever finds it', async () => {
    await escalating(db, 'crashes', { escalate_after: 2 });
    for (const finish of [
      async () => await nothingDue('crashes'),
      async () =>
        expect(await settle(db.sql, { queue: 'crashes', limit: 10, actor: 'drain' })).toEqual({
          settled: 1,
        }),
    ]) {
      const jobId = await added(db.sql, { queue: 'crashes' });
      await claimed(db.sql, 'crashes');
      await expireLease(db.pool, jobId);
      await claimed(db.sql, 'crashes');
      await expireLease(db.pool, jobId);
      await finish();
      expect(await getJob(db.sql, { jobId })).toMatchObject({
        state: 'escalated',
        escalated: { reason: 'failures_used_up', error: { code: 'lease_expired' } },
      });
    }
  });

  test('S2.10 the failure that escalates is set by queue and by job, at both ends of its range', async () => {
    await escalating(db, 'by-queue', { escalate_after: 1, max_attempts: 100 });
    const first = await added(db.sql, { queue: 'by-queue' });
    expect(await failUntilOut(db, 'by-queue', first)).toEqual([1, 'escalated']);
    const own = await added(db.sql, { queue: 'by-queue', escalateAfter: 4 });
    expect(await failUntilOut(db, 'by-queue', own, 'unknown')).toEqual([4, 'escalated']);
    const late = await added(db.sql, { queue: 'by-queue', escalateAfter: 100 });
    expect(await failUntilOut(db, 'by-queue', late)).toEqual([100, 'escalated']);

    for (const escalateAfter of [0, 101]) {
      await expect(added(db.sql, { queue: 'by-queue', escalateAfter })).rejects.toThrow(
        /escalate_after: must be between 1 and 100/,
      );
      await expect(
        configureQueue(db.sql, {
          queue: 'by-queue',
          settings: { escalate_after: escalateAfter },
          actor: 'test',
        }),
      ).rejects.toThrow(/escalate_after: must be a whole number between 1 and 100/);
    }
  });

  test('S2.10 a queue does not escalate unless it is told to, whatever a job says', async () => {
    expect(
      await configureQueue(db.sql, { queue: 'plain', settings: {}, actor: 'test' }),
    ).toMatchObject({ on_exhausted: 'dead', escalate_after: 3 });
    const jobId = await added(db.sql, { queue: 'plain', escalateAfter: 1 });
    expect(await failUntilOut(db, 'plain', jobId)).toEqual([5, 'dead']);
  });

  test('S2.4 whatever else would kill it hands it to a person as well', async () => {
    await escalating(db, 'budgets', { escalate_after: 10, max_attempts: 2 });
    const permanent = await added(db.sql, { queue: 'budgets' });
    expect(await failUntilOut(db, 'budgets', permanent, 'permanent')).toEqual([1, 'escalated']);
    expect(await reasonOf(permanent)).toBe('permanent_failure');

    const attempts = await added(db.sql, { queue: 'budgets' });
    expect(await failUntilOut(db, 'budgets', attempts)).toEqual([2, 'escalated']);
    expect(await reasonOf(attempts)).toBe('attempts_used_up');

    const late = await added(db.sql, { queue: 'budgets', retryBudgetSeconds: 1 });
    // Its budget is over now: the next retry starts after a wait of random length, and might be in time.
    await db.pool.query(
      'update leasehold.job_state set retry_until = clock_timestamp() where job_id = $1',
      [late],
    );
    expect(await failUntilOut(db, 'budgets', late)).toEqual([1, 'escalated']);
    expect(await reasonOf(late)).toBe('retry_budget_used_up');

    const crashed = await added(db.sql, { queue: 'budgets', maxAttempts: 1 });
    await claimed(db.sql, 'budgets');
    await expireLease(db.pool, crashed);
    await nothingDue('budgets');
    expect(await reasonOf(crashed)).toBe('lease_expired');
  });

  test('S2.4 the budget for unknown failures does not cut the tries short', async () => {
    await escalating(db, 'unknown', { escalate_after: 4, max_unknown_attempts: 1 });
    const jobId = await added(db.sql, { queue: 'unknown' });
    expect(await failUntilOut(db, 'unknown', jobId, 'unknown')).toEqual([4, 'escalated']);
  });

  test('one that was called off ends as cancelled', async () => {
    await escalating(db, 'called-off', { escalate_after: 1 });
    const jobId = await added(db.sql, { queue: 'called-off' });
    const job = await claimed(db.sql, 'called-off');
    await cancel(db.sql, { jobId, actor: 'maria' });
    expect(await escalate(db.sql, { ...job, question: 'May I?' })).toMatchObject({
      outcome: 'cancelled',
    });
    expect((await getJob(db.sql, { jobId }))?.state).toBe('cancelled');
  });
});

describe('a holder asks a person', () => {
  test('S2.4 in any queue: the attempt ends, and the question is there to read', async () => {
    const jobId = await added(db.sql, { queue: 'asking' });
    const job = await claimed(db.sql, 'asking', 'agent-7');
    const asked = { ...job, question: 'Which of the two addresses counts?' };
    expect(await escalate(db.sql, asked)).toEqual({ outcome: 'escalated', moreDue: false });
    const once = await snapshot(db.pool, jobId);
    expect(await escalate(db.sql, asked)).toEqual({ outcome: 'escalated', moreDue: false });
    expect(await snapshot(db.pool, jobId)).toBe(once);

    expect(await getJob(db.sql, { jobId })).toMatchObject({
      state: 'escalated',
      escalated: {
        reason: 'asked_for_human',
        error: { code: 'asked_for_human', message: 'Which of the two addresses counts?' },
      },
      attempts: [{ outcome: 'escalated', next_state: 'escalated', owner: 'agent-7' }],
    });
    expect((await eventsOf(db, jobId)).at(-1)).toMatchObject({
      type: 'escalated',
      actor: 'agent-7',
      details: { reason: 'asked_for_human', question: 'Which of the two addresses counts?' },
    });
  });

  test('who does not hold the job cannot, and changes nothing', async () => {
    const jobId = await added(db.sql, { queue: 'asking' });
    const job = await claimed(db.sql, 'asking');
    const before = await snapshot(db.pool, jobId);
    for (const other of [{ owner: 'agent-2' }, { fencingToken: '99' }]) {
      expect(await escalate(db.sql, { ...job, ...other, question: 'May I?' })).toEqual({
        outcome: 'lease_lost',
      });
    }
    expect(await snapshot(db.pool, jobId)).toBe(before);
    for (const question of ['', 'x'.repeat(4001)]) {
      await expect(escalate(db.sql, { ...job, question })).rejects.toThrow(/question: give 1 to/);
    }
    expect(await escalate(db.sql, { ...job, question: 'x'.repeat(4000) })).toMatchObject({
      outcome: 'escalated',
    });
  });
});

describe('an escalated job is not dead', () => {
  test('S2.4 lists, filters and bulk forms of dead letters leave it alone', async () => {
    await escalating(db, 'not-dead');
    const jobId = await escalated(db, { queue: 'not-dead' });
    const before = await snapshot(db.pool, jobId);
    const page = await listDeadLetters(db.sql, { queue: 'not-dead', limit: 10 });
    expect(page.jobs).toEqual([]);
    const filter = { queue: 'not-dead' };
    expect(await matchingDeadLetters(db.sql, { filter, limit: 10 })).toEqual([]);
    const order = { jobIds: [jobId], reason: 'all of them', actor: 'maria' };
    expect(await redrive(db.sql, order)).toMatchObject([{ outcome: 'not_dead' }]);
    expect(await discard(db.sql, order)).toMatchObject([{ outcome: 'not_dead' }]);
    expect(await cancel(db.sql, { jobId, actor: 'maria' })).toBe('already_ended');
    expect(await snapshot(db.pool, jobId)).toBe(before);
  });

  test('a failed job of the same queue waits for its next try meanwhile', async () => {
    await escalating(db, 'both');
    await escalated(db, { queue: 'both' });
    const jobId = await added(db.sql, { queue: 'both' });
    expect(await failOnce(db, 'both', jobId)).toBe('pending');
    await makeDue(db.pool, jobId);
    expect((await claimed(db.sql, 'both')).jobId).toBe(jobId);
  });
});
