import pg from 'pg';
import { uuidv7 } from 'uuidv7';
import type { ClaimedJob } from '../../../shared/queue/claimed-job.ts';
import { claim } from '../../../shared/queue/claim.ts';
import { completeAndClaim } from '../../../shared/queue/complete-and-claim.ts';
import { complete } from '../../../shared/queue/complete.ts';
import { enqueueBatch } from '../../../shared/queue/enqueue-batch.ts';
import { median } from '../../bench/support/stats.ts';
import { createMeteredSql, type MeteredSql } from './metered-sql.ts';
import { removeDeadEntries } from './old-snapshot.ts';

/** What a job costs, on average. None of it depends on the machine, or on what else runs there. */
export interface JobCost {
  /** Statements sent. */
  readonly roundTrips: number;
  readonly commits: number;
  /** Without full-page images: those depend on when the last checkpoint was. */
  readonly walBytes: number;
  readonly indexEntries: number;
  readonly pages: number;
}

export const STAGES = [
  'enqueue, one a call',
  'enqueue, 1,000 a call',
  'claim',
  'complete',
  'complete and claim',
] as const;
export type Stage = (typeof STAGES)[number];

const QUEUE = 'what a job costs';
const JOBS = 200;
const BATCH = 1_000;
const WARM_UP = 10;
/** Jobs between two clean-ups. */
const TIDY_AFTER = 25;
const OWNER = 'worker-a';

/** Measures the stages of a job's life on a session of its own. */
export async function measureJobCosts(
  pool: pg.Pool,
  stages: readonly Stage[] = STAGES,
): Promise<Readonly<Record<Stage, JobCost>>> {
  await pool.query('create extension if not exists pg_walinspect');
  const own = new pg.Pool({
    connectionString: pool.options.connectionString ?? '',
    max: 1,
    // Records that were not written yet could not be read below.
    options: '-c synchronous_commit=on',
  });
  own.on('error', () => undefined); // cut by a server that stops
  const client = await own.connect();
  try {
    // Keeps the records until they have been read, as long as this session lasts.
    await client.query('select pg_create_physical_replication_slot($1, true, true)', [
      `job_cost_${process.pid}_${Date.now()}`,
    ]);
    const metered = tidied(createMeteredSql(client), pool);
    await runStage('warm-up', metered);
    const costs = {} as Record<Stage, JobCost>;
    for (const stage of stages) costs[stage] = await measure(pool, metered, stage);
    return costs;
  } finally {
    client.release();
    await own.end();
  }
}

/** Whatever else the server does, a claim does not meet what earlier ones left. */
function tidied({ sql, calls }: MeteredSql, pool: pg.Pool): MeteredSql {
  return {
    calls,
    sql: {
      query: async (text, values, options) => {
        if (calls.length % TIDY_AFTER === 0) await removeDeadEntries(pool);
        return await sql.query(text, values, options);
      },
    },
  };
}

async function measure(pool: pg.Pool, metered: MeteredSql, stage: Stage): Promise<JobCost> {
  metered.calls.length = 0;
  const from = await walPosition(pool);
  const { jobIds, calls, event } = await runStage(stage, metered);
  const to = await walPosition(pool);
  const { rows } = await pool.query<{ commits: number; bytes: number; entries: number }>(
    `with xids as (
       select distinct (e.xact_id::text::bigint % 4294967296)::text::xid as xid
       from leasehold.job_events e
       where e.job_id = any ($1) and e.type = $2
     )
     select
       (select count(*)::int from xids) as commits,
       sum(w.record_length - w.fpi_length)::int as bytes,
       (count(*) filter (where w.resource_manager = 'Btree' and w.record_type ~ '^(INSERT_LEAF|INSERT_POST|SPLIT)'))::int
         as entries
     from xids
     join pg_get_wal_records_info($3, $4) w on w.xid = xids.xid`,
    [jobIds, event, from, to],
  );
  const [sum] = rows;
  if (sum === undefined) throw new Error('nothing was written');
  const jobs = jobIds.length;
  return {
    roundTrips: calls.length / jobs,
    commits: sum.commits / jobs,
    walBytes: Math.round(sum.bytes / jobs),
    indexEntries: sum.entries / jobs,
    // Of the middle call: one that has to plan anew, because the server forgot its catalog, reads that as well.
    pages: (median(calls.map(({ pages }) => pages)) * calls.length) / jobs,
  };
}

interface StageRun {
  readonly jobIds: readonly string[];
  readonly calls: MeteredSql['calls'];
  /** The event that each transaction of the stage writes. */
  readonly event: string;
}

async function runStage(stage: Stage | 'warm-up', metered: MeteredSql): Promise<StageRun> {
  const { sql, calls } = metered;
  /** What went before is not part of the stage. */
  const start = (): void => void (calls.length = 0);
  switch (stage) {
    case 'warm-up': {
      await addOneByOne(metered, 3 * WARM_UP);
      await addBatch(metered);
      const leases = await claimAll(metered, 2 * WARM_UP);
      for (const lease of leases.slice(WARM_UP)) await complete(sql, lease);
      await goOn(metered, leases[0], WARM_UP);
      return { jobIds: [], calls, event: '' };
    }
    case 'enqueue, one a call':
      return { jobIds: await addOneByOne(metered, JOBS), calls, event: 'created' };
    case 'enqueue, 1,000 a call':
      return { jobIds: await addBatch(metered), calls, event: 'created' };
    case 'claim': {
      const leases = await claimAll(metered, JOBS);
      return { jobIds: leases.map(({ jobId }) => jobId), calls, event: 'claimed' };
    }
    case 'complete': {
      const leases = await claimAll(metered, JOBS);
      start();
      for (const lease of leases) await complete(sql, lease);
      return { jobIds: leases.map(({ jobId }) => jobId), calls, event: 'completed' };
    }
    case 'complete and claim': {
      const [first] = await claimAll(metered, 1);
      start();
      return { jobIds: await goOn(metered, first, JOBS), calls, event: 'completed' };
    }
  }
}

type HeldJob = ClaimedJob & { readonly owner: string };

async function addOneByOne({ sql }: MeteredSql, count: number): Promise<string[]> {
  const jobs = newJobs(count);
  for (const job of jobs) await enqueueBatch(sql, { jobs: [job], actor: 'shop' });
  return jobs.map(({ id }) => id);
}

async function addBatch({ sql }: MeteredSql): Promise<string[]> {
  const jobs = newJobs(BATCH);
  await enqueueBatch(sql, { jobs, actor: 'shop' });
  return jobs.map(({ id }) => id);
}

function newJobs(count: number) {
  return Array.from({ length: count }, () => ({
    id: uuidv7(),
    queue: QUEUE,
    type: 'email.send',
    payload: { to: 'someone@example.com', template: 'welcome' },
  }));
}

async function claimAll({ sql }: MeteredSql, count: number): Promise<HeldJob[]> {
  const leases: HeldJob[] = [];
  while (leases.length < count) {
    const taken = await claim(sql, { queue: QUEUE, owner: OWNER, claimId: uuidv7() });
    if (taken.outcome === 'empty') throw new Error('the queue ran dry');
    leases.push({ ...taken.job, owner: OWNER });
  }
  return leases;
}

/** Completes one job after another, each call taking the next; returns the ids of those that ended. */
async function goOn(
  { sql }: MeteredSql,
  first: HeldJob | undefined,
  count: number,
): Promise<string[]> {
  const ended: string[] = [];
  let job: ClaimedJob | undefined = first;
  while (job !== undefined && ended.length < count) {
    ended.push(job.jobId);
    const lease = { jobId: job.jobId, owner: OWNER, fencingToken: job.fencingToken };
    const end = await completeAndClaim(sql, { ...lease, queue: QUEUE, claimId: uuidv7() });
    job = end.outcome === 'succeeded' ? end.next : undefined;
  }
  if (ended.length < count) throw new Error('the queue ran dry');
  return ended;
}

async function walPosition(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ lsn: string }>(
    'select pg_current_wal_insert_lsn()::text as lsn',
  );
  return rows[0]?.lsn ?? '';
}
