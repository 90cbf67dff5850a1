import { uuidv7 } from 'uuidv7';
import { expect } from 'vitest';
import { claimEscalated, type HeldJob } from '../../../shared/queue/claim-escalated.ts';
import { configureQueue } from '../../../shared/queue/configure-queue.ts';
import { fail } from '../../../shared/queue/fail.ts';
import type { FailureClass } from '../../../shared/queue/failure-class.ts';
import type { Lease } from '../../../shared/queue/lease.ts';
import type { NewJob } from '../../../shared/queue/new-job.ts';
import type { QueueDocument, QueueSettings } from '../../../shared/queue/queue-settings.ts';
import type { TestDatabase } from '../../support/database.ts';
import { added, claimed, makeDue } from './lease-core.ts';

/** A queue that escalates. */
export async function escalating(
  db: TestDatabase,
  queue: string,
  settings: Partial<QueueSettings> = {},
): Promise<QueueDocument> {
  return await configureQueue(db.sql, {
    queue,
    settings: { on_exhausted: 'escalate', ...settings },
    actor: 'test',
  });
}

export async function failOnce(
  db: TestDatabase,
  queue: string,
  jobId: string,
  failureClass: FailureClass = 'transient',
): Promise<string> {
  await makeDue(db.pool, jobId);
  const job = await claimed(db.sql, queue, 'agent-1');
  expect(job.jobId).toBe(jobId);
  const error = { code: 'no_answer', message: 'The shop did not answer.' };
  return (await fail(db.sql, { ...job, error, failureClass })).outcome;
}

/** Fails the job until it is not tried again; how many failures that took, and what it is then. */
export async function failUntilOut(
  db: TestDatabase,
  queue: string,
  jobId: string,
  failureClass?: FailureClass,
): Promise<readonly [failures: number, outcome: string]> {
  for (let failures = 1; ; failures += 1) {
    const outcome = await failOnce(db, queue, jobId, failureClass);
    if (outcome !== 'pending') return [failures, outcome];
  }
}

/** A job that waits for a person: its only worker failed for good. */
export async function escalated(db: TestDatabase, overrides: Partial<NewJob>): Promise<string> {
  const jobId = await added(db.sql, overrides);
  expect(await failOnce(db, overrides.queue ?? 'emails', jobId, 'permanent')).toBe('escalated');
  return jobId;
}

/** A person takes this job, and the test fails when they cannot. */
export async function held(
  db: TestDatabase,
  jobId: string,
  owner = 'maria',
): Promise<HeldJob & Lease> {
  const job = await claimEscalated(db.sql, { owner, claimId: uuidv7(), jobId });
  if (job === undefined) throw new Error('the job was not free');
  return { ...job, owner };
}

/** Lets the time of a hold run out, without waiting for it. */
export async function expireHold(db: TestDatabase, jobId: string): Promise<void> {
  const { rowCount } = await db.pool.query(
    `update leasehold.dead_letters set held_until = clock_timestamp() - interval '1 millisecond'
     where job_id = $1 and held_by is not null`,
    [jobId],
  );
  if (rowCount !== 1) throw new Error('nobody holds the job');
}

/** Events of a job, oldest first, as the log has them. */
export async function eventsOf(
  db: TestDatabase,
  jobId: string,
): Promise<Record<string, unknown>[]> {
  const { rows } = await db.pool.query<Record<string, unknown>>(
    `select type, actor, fencing_token::text as token, details
     from leasehold.job_events where job_id = $1 order by id`,
    [jobId],
  );
  return rows;
}
