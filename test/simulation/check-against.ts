import type pg from 'pg';
import { replay, type LoggedEvent } from './event-replay.ts';
import type { Model } from './model.ts';

interface DatabaseJob {
  readonly id: string;
  readonly lane: number | null;
  readonly due: boolean | null;
  readonly token: string;
  readonly attempt: number;
  readonly owner: string | null;
  readonly aside: string | null;
  readonly hold: string;
  readonly note: string | null;
  readonly finished: string | null;
  readonly places: number;
  readonly ended: number;
  readonly events: readonly LoggedEvent[];
}

/** Compares every job of the queue with the model, and the event log with both. Throws what differs. */
export async function checkAgainst(pool: pg.Pool, queue: string, model: Model): Promise<void> {
  const { rows } = await pool.query<DatabaseJob>(
    `select j.id, s.lane, s.due_at <= clock_timestamp() as due, s.note,
       coalesce(s.owner, d.held_by) as owner,
       coalesce(s.fencing_token, d.fencing_token, f.fencing_token)::text as token,
       coalesce(s.attempt, d.attempt, f.attempt) as attempt,
       d.state as aside,
       case when d.held_by is null then 'none' when d.held_until > clock_timestamp() then 'held' else 'expired' end as hold,
       f.state as finished,
       (s.job_id is not null)::int + (d.job_id is not null)::int + (f.job_id is not null)::int as places,
       (select count(*)::int from leasehold.attempts a where a.job_id = j.id) as ended,
       (select jsonb_agg(jsonb_build_object('type', e.type, 'fencing_token', e.fencing_token::text, 'lane', e.details ->> 'lane') order by e.id)
        from leasehold.job_events e where e.job_id = j.id) as events
     from leasehold.jobs j
     left join leasehold.job_state s on s.job_id = j.id
     left join leasehold.dead_letters d on d.job_id = j.id
     left join leasehold.finished_jobs f on f.job_id = j.id
     where j.queue = $1`,
    [queue],
  );
  if (rows.length !== model.jobs.size)
    throw new Error(`${rows.length} jobs, the model has ${model.jobs.size}`);
  const openOfKey = new Map<string, number>();
  for (const row of rows) {
    const job = model.jobs.get(row.id);
    if (job === undefined) throw new Error(`the model does not know ${row.id}`);
    const wrong = (what: string): Error =>
      new Error(
        `${what}: the database has ${JSON.stringify({ ...row, events: row.events.map((e) => e.type) })}, the model ${JSON.stringify(job)}`,
      );

    // Live, dead or finished: exactly one of them, so that no job is lost and none is in two places.
    if (row.places !== 1) throw wrong('places');
    if (stateOf(row) !== job.state) throw wrong('state');
    if (Number(row.token) !== job.token) throw wrong('fencing token');
    if (row.attempt !== job.attempt) throw wrong('attempt');
    if ((row.lane === 9) !== job.parked) throw wrong('parked');
    if ((job.state === 'running' || job.hold === 'held') && row.owner !== job.owner)
      throw wrong('owner');
    if (row.hold !== job.hold) throw wrong('hold');
    if (row.lane !== null && row.note !== job.note) throw wrong('note');
    if (row.lane !== null && row.lane > 0 && row.lane < 9 && row.due === job.delayed)
      throw wrong('due');

    const logged = replay(row.events);
    const held = job.hold !== 'none';
    const expected = job.state === 'expired' ? 'running' : held ? 'held' : job.state;
    if (
      logged.state !== expected ||
      logged.token !== job.token ||
      logged.redrives !== job.redrives
    ) {
      throw wrong(`the log says ${JSON.stringify(logged)}`);
    }
    // Every claim but the one that runs has ended as an attempt on record.
    const open = job.state === 'running' || job.state === 'expired' || held ? 1 : 0;
    if (row.ended !== job.token - open) throw wrong('attempts on record');
    if (job.key !== null && row.lane !== null && row.lane < 9) {
      openOfKey.set(job.key, (openOfKey.get(job.key) ?? 0) + 1);
    }
  }
  for (const [key, open] of openOfKey) if (open > 1) throw new Error(`${open} open jobs of ${key}`);
}

function stateOf(row: DatabaseJob): string {
  if (row.lane === 0) return row.due === true ? 'expired' : 'running';
  if (row.lane !== null) return 'pending';
  return row.aside ?? row.finished ?? 'nowhere';
}
