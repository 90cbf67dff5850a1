import type pg from 'pg';
import { uuidv7 } from 'uuidv7';
import type { Sql } from '../../../shared/ports.ts';
import { claim } from '../../../shared/queue/claim.ts';
import type { ClaimedJob } from '../../../shared/queue/claimed-job.ts';
import { enqueue } from '../../../shared/queue/enqueue.ts';
import type { Lease } from '../../../shared/queue/lease.ts';
import type { NewJob } from '../../../shared/queue/new-job.ts';

export function newJob(overrides: Partial<NewJob> = {}): NewJob {
  return {
    id: uuidv7(),
    queue: 'emails',
    type: 'email.send',
    payload: { to: 'a@example.com' },
    ...overrides,
  };
}

/** Enqueues one job and returns its id. */
export async function added(sql: Sql, overrides: Partial<NewJob> = {}): Promise<string> {
  const { jobId } = await enqueue(sql, { job: newJob(overrides), actor: 'test' });
  return jobId;
}

/** Claims, and fails the test when nothing is due. */
export async function claimed(
  sql: Sql,
  queue = 'emails',
  owner = 'worker-a',
): Promise<ClaimedJob & Lease> {
  const taken = await claim(sql, { queue, owner, claimId: uuidv7() });
  if (taken.outcome === 'empty') throw new Error(`nothing was due in ${queue}`);
  return { ...taken.job, owner };
}

/** Lets the time of a lease run out, without waiting for it. */
export async function expireLease(pool: pg.Pool, jobId: string): Promise<void> {
  const { rowCount } = await pool.query(
    `update leasehold.job_state set due_at = clock_timestamp() - interval '1 millisecond'
     where job_id = $1 and lane = 0`,
    [jobId],
  );
  if (rowCount !== 1) throw new Error('the job has no lease');
}

/** Makes a pending job due now. */
export async function makeDue(pool: pg.Pool, jobId: string): Promise<void> {
  const { rowCount } = await pool.query(
    'update leasehold.job_state set due_at = clock_timestamp() where job_id = $1 and lane > 0',
    [jobId],
  );
  if (rowCount !== 1) throw new Error('the job is not pending');
}

/** Types of the job's events, oldest first. */
export async function eventTypes(pool: pg.Pool, jobId: string): Promise<string[]> {
  const { rows } = await pool.query<{ type: string }>(
    'select type from leasehold.job_events where job_id = $1 order by id',
    [jobId],
  );
  return rows.map((row) => row.type);
}

export async function attemptsOf(pool: pg.Pool, jobId: string): Promise<Record<string, unknown>[]> {
  const { rows } = await pool.query(
    'select * from leasehold.attempts where job_id = $1 order by fencing_token',
    [jobId],
  );
  return rows as Record<string, unknown>[];
}

/** Everything stored about a job, to show that a refused call changed nothing. */
export async function snapshot(pool: pg.Pool, jobId: string): Promise<string> {
  const { rows } = await pool.query(
    `select jsonb_build_object(
       'state', (select to_jsonb(s) from leasehold.job_state s where s.job_id = $1),
       'attempts', (select jsonb_agg(a order by a.fencing_token) from leasehold.attempts a where a.job_id = $1),
       'finished', (select to_jsonb(f) from leasehold.finished_jobs f where f.job_id = $1),
       'dead', (select to_jsonb(d) from leasehold.dead_letters d where d.job_id = $1),
       'events', (select count(*) from leasehold.job_events e where e.job_id = $1)
     )::text as everything`,
    [jobId],
  );
  return (rows[0] as { everything: string }).everything;
}
