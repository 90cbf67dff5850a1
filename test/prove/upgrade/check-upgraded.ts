import type pg from 'pg';
import { checkHistory } from '../../simulation/history/check-history.ts';
import type { Ledger } from './ledger.ts';
import { HARD_QUEUE } from './produce.ts';
import type { Receiver } from './receiver.ts';

/** Jobs of which a claim is not on record: tokens are given out without gaps. */
const LEFT_OUT = `select e.job_id::text as id from leasehold.job_events e where e.type = 'claimed' and e.job_id = any ($1::uuid[])
  group by e.job_id having max(e.fencing_token) <> count(*)`;
const SHOWN = 10;

/** Reads the log and the tables when everything has come to rest; returns what does not hold. */
export async function checkUpgraded(
  pool: pg.Pool,
  ledger: Ledger,
  receiver: Receiver,
  /** When the old Workers began to be stopped, and when the last of them was gone; then queues began to escalate. */
  stop: Stop,
): Promise<readonly string[]> {
  const ids = [...ledger.accepted.keys()];
  const faults: string[] = [];
  const { rows } = await pool.query<{ id: string }>(LEFT_OUT, [ids]);
  for (const { id } of rows.slice(0, SHOWN)) faults.push(`${id}: a token is left out`);
  const history = await checkHistory(pool, {
    accepted: ids,
    drained: true,
    escalatesSince: stop.endedAt,
    eventEffects: `select 'upgraded' as consumer, '' as sender, event_id, aggregate, version, place as applied_order from applied`,
    mostFaults: SHOWN,
  });
  for (const { rule, job, text } of history.faults) faults.push(`${rule}: ${job ?? ''} ${text}`);
  const { rows: events } = await pool.query<{ appended: number }>(
    'select count(*)::int as appended from leasehold.outbox_events',
  );
  if (events[0]?.appended !== ledger.appended) {
    faults.push(`${ledger.appended} events were appended, and ${events[0]?.appended} are there`);
  }
  return [
    ...faults,
    ...(await checkLostLeases(pool, ids, stop)),
    ...(await checkEnds(pool, ledger, receiver)),
  ];
}

export interface Stop {
  readonly beganAt: Date;
  readonly endedAt: Date;
}

/**
 * How long after its agent was stopped a claim that waits at a Worker may still be made: the Worker does not hear that nobody
 * listens, and the agent has asked before whether it was.
 */
const UNHEARD_CLAIM_MS = 2000;

/** A lease may run out only over what was stopped: runs that the old Workers took with them, claims of stopped agents. */
async function checkLostLeases(
  pool: pg.Pool,
  ids: readonly string[],
  stop: Stop,
): Promise<readonly string[]> {
  const { rows } = await pool.query<{ what: string }>(
    `select format('%s of %s, claimed by %s %s s after the stop, expired %s s after it', a.job_id, j.queue, a.owner,
       round(extract(epoch from a.started_at - $2::timestamptz), 1), round(extract(epoch from a.ended_at - $2::timestamptz), 1)) as what
     from leasehold.attempts a join leasehold.jobs j on j.id = a.job_id
     where a.job_id = any ($1::uuid[]) and a.outcome = 'lease_expired'
       and not (a.started_at <= $3::timestamptz and a.ended_at > $2::timestamptz)
       and not (j.queue = $4 and a.started_at between $2::timestamptz and $5::timestamptz)`,
    [
      ids,
      stop.beganAt,
      stop.endedAt,
      HARD_QUEUE,
      new Date(stop.beganAt.getTime() + UNHEARD_CLAIM_MS),
    ],
  );
  return rows
    .slice(0, SHOWN)
    .map(({ what }) => `a lease was lost that nobody had to lose: ${what}`);
}

/** Work that can be done is done, with its effect; what nobody could do is dead, or a person did it. */
async function checkEnds(
  pool: pg.Pool,
  ledger: Ledger,
  receiver: Receiver,
): Promise<readonly string[]> {
  const faults = new Set<string>();
  const { rows } = await pool.query<{ id: string; state: string; by: string; tokens: number }>(
    `select job_id as id, state, finished_by as by, fencing_token::int as tokens from leasehold.finished_jobs
     union all select job_id, state, '', fencing_token::int from leasehold.dead_letters`,
  );
  const ends = new Map(rows.map((row) => [row.id, row]));
  for (const [id, queue] of ledger.accepted) {
    const end = ends.get(id);
    if (queue === HARD_QUEUE) {
      if (end?.state !== 'dead' && end?.by !== 'maria') {
        faults.add(`${id} is beyond every worker, and ended as ${end?.state}`);
      }
      continue;
    }
    if (end?.state !== 'succeeded') faults.add(`${id} of ${queue} ended as ${end?.state}`);
    const effects = receiver.effects.get(id) ?? 0;
    if (effects === 0) faults.add(`${id} of ${queue} has had no effect`);
    if (effects > (end?.tokens ?? 0)) {
      faults.add(`${id} of ${queue} has had ${effects} effects in ${end?.tokens} claims`);
    }
  }
  if (receiver.keyless > 0) faults.add(`${receiver.keyless} effects came without a key`);
  for (const reason of receiver.refused) faults.add(`an event was refused: ${reason}`);
  return [...faults].slice(0, SHOWN);
}

/**
 * Tables with their columns, indexes and constraints, and routines: an upgraded schema is a fresh one. How many weeks have
 * their partitions is left to the upkeep, which gives way to whoever reads.
 */
export async function shapeOf(pool: pg.Pool): Promise<ReadonlySet<string>> {
  const { rows } = await pool.query<{ line: string }>(`
    select format('%s.%s %s %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull) as line
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = to_regnamespace('leasehold') and not c.relispartition and a.attnum > 0 and not a.attisdropped
      and c.relkind in ('r', 'p', 'i', 'I', 'S')
    union all
    select format('%s %s', conname, pg_get_constraintdef(oid)) from pg_constraint
    where connamespace = to_regnamespace('leasehold')
      and not exists (select 1 from pg_class p where p.oid = conrelid and p.relispartition)
    union all
    select format('%s(%s) %s', proname, pg_get_function_identity_arguments(oid), md5(pg_get_functiondef(oid)))
    from pg_proc where pronamespace = to_regnamespace('leasehold')`);
  return new Set(rows.map(({ line }) => line));
}
