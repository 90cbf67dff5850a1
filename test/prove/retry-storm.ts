import { uuidv7 } from 'uuidv7';
import { claimBatch } from '../../shared/queue/claim-batch.ts';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { enqueueBatch } from '../../shared/queue/enqueue-batch.ts';
import { fail } from '../../shared/queue/fail.ts';
import type { Sql } from '../../shared/ports.ts';
import type { Experiment, Lab } from './experiment.ts';

export const STORM_JOBS = 1000;
/** S1.9: the most of them that may start again in any one second of the first minute. */
export const MAX_PEAK_SHARE = 0.06;
const SECONDS = 60;
/** The delay that all three strategies start from: the default of a queue. */
const BASE_MS = 30_000;
const AT_ONCE = 100;

/** How many start again in each second of the first minute. */
export type Histogram = readonly number[];

export interface Storm {
  readonly fixed: Histogram;
  readonly exponential: Histogram;
  readonly fullJitter: Histogram;
}

type Database = Pick<Lab, 'pool' | 'sql'>;

/**
 * A dependency goes down and 1,000 jobs fail together. When do they come back? Full jitter is what the product does: the
 * jobs are claimed and failed by its routines, and their due times are read. For the other two the same routine computes
 * the delay with the jitter taken out of it.
 */
export async function retryStorm({ pool, sql }: Database): Promise<Storm> {
  const fullJitter = await failTogether({ pool, sql }, BASE_MS);
  const { rows } = await pool.query<{ seconds: number }>(
    `select extract(epoch from leasehold.retry_delay(1, $1, 3600000, 1))::float8 as seconds`,
    [BASE_MS],
  );
  const alike = Array.from({ length: STORM_JOBS }, () => rows[0]?.seconds ?? 0);
  return {
    fixed: histogram(Array.from({ length: STORM_JOBS }, () => BASE_MS / 1000)),
    exponential: histogram(alike),
    fullJitter: histogram(fullJitter),
  };
}

export function peakShare(counts: Histogram): number {
  return Math.max(...counts) / STORM_JOBS;
}

/** Seconds from the failure of each job to its next due time. */
async function failTogether({ pool, sql }: Database, baseMs: number): Promise<number[]> {
  const queue = `storm ${baseMs}`;
  const settings = { backoff_base_ms: baseMs, backoff_cap_ms: 3_600_000, lease_seconds: 600 };
  await configureQueue(sql, { queue, settings, actor: 'prove' });
  await enqueueBatch(sql, {
    jobs: Array.from({ length: STORM_JOBS }, (_, at) => ({
      id: uuidv7(),
      queue,
      type: 'call',
      payload: at,
    })),
    actor: 'prove',
  });
  for (let failed = 0; failed < STORM_JOBS; failed += AT_ONCE) await failBatch(sql, queue);
  const { rows } = await pool.query<{ seconds: number }>(
    `select extract(epoch from s.due_at - a.ended_at)::float8 as seconds
     from leasehold.job_state s
     join leasehold.attempts a on a.job_id = s.job_id
     where s.queue = $1`,
    [queue],
  );
  return rows.map(({ seconds }) => seconds);
}

async function failBatch(sql: Sql, queue: string): Promise<void> {
  const owner = 'prove';
  const claimed = await claimBatch(sql, { queue, owner, claimId: uuidv7(), limit: AT_ONCE });
  const error = { code: 'http_503', message: 'The dependency is down.' };
  for (const { jobId, fencingToken } of claimed) {
    await fail(sql, { jobId, owner, fencingToken, error, failureClass: 'transient' });
  }
}

function histogram(delays: readonly number[]): Histogram {
  const counts = Array.from({ length: SECONDS }, () => 0);
  for (const seconds of delays) {
    const at = Math.floor(seconds);
    if (at < SECONDS) counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts;
}

export const retryStormExperiment: Experiment = {
  name: 'retry-storm',
  summary: `${STORM_JOBS} jobs fail together: when do they start again, with and without jitter (S1.9)`,
  run: async (lab) => {
    const storm = await retryStorm(lab);
    const ways = [
      ['fixed delay', storm.fixed],
      ['plain exponential', storm.exponential],
      ['full jitter', storm.fullJitter],
    ] as const;
    lab.print(`  starts in each second of the first minute, ${BASE_MS / 1000} s of backoff base`);
    for (const [way, counts] of ways) {
      lab.print('');
      lab.print(`  ${way}: ${percent(peakShare(counts))} of the jobs in the busiest second`);
      printHistogram(lab, counts);
    }
    await printBases(lab);
    const faults: string[] = [];
    const jittered = peakShare(storm.fullJitter);
    if (jittered > MAX_PEAK_SHARE) faults.push(`full jitter peaks at ${percent(jittered)}`);
    for (const [way, counts] of ways.slice(0, 2)) {
      if (peakShare(counts) !== 1) faults.push(`${way} should peak at 100 %`);
    }
    return faults;
  },
};

/** Ten seconds a line. */
function printHistogram({ print }: Lab, counts: Histogram): void {
  for (let from = 0; from < SECONDS; from += 10) {
    const line = counts.slice(from, from + 10).map((count) => String(count).padStart(5));
    print(`  ${String(from).padStart(4)} s ${line.join('')}`);
  }
}

/** How wide the jitter must be: the delay is spread over min(cap, base * 2^(attempt - 1)). */
async function printBases({ pool, print }: Lab): Promise<void> {
  const { rows } = await pool.query<{ attempt: number; window_s: number; peak: number }>(
    `select attempt, window_s, max(starts)::float8 / $1 as peak
     from (
       select attempt, window_s, floor(seconds), count(*) as starts
       from (
         select
           attempt,
           extract(epoch from leasehold.retry_delay(attempt, 2000, 3600000, 1))::int as window_s,
           extract(epoch from leasehold.retry_delay(attempt, 2000, 3600000, random()))::float8 as seconds
         from generate_series(1, 6) attempt, generate_series(1, $1::int)
       ) delays
       group by attempt, window_s, floor(seconds)
     ) per_second
     group by attempt, window_s
     order by attempt`,
    [STORM_JOBS],
  );
  print('');
  print('  full jitter with a backoff base of 2 s, by the attempt that failed');
  for (const { attempt, window_s: width, peak } of rows) {
    print(
      `  ${String(attempt).padStart(4)}  over ${String(width).padStart(2)} s: ${percent(peak)}`,
    );
  }
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
