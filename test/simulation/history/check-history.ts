import pg from 'pg';
import { checkJob } from './check-job.ts';
import { checkDedupKeys, checkOrderingKeys } from './check-keys.ts';
import { checkApplied, checkOutbox, countConsumed } from './check-outbox.ts';
import { readJobs } from './job-rows.ts';
import { ReportBuilder, type HistoryReport } from './report.ts';
import { streamRows } from './rows.ts';

export type { HistoryFault, HistoryReport, HistoryRule } from './report.ts';

export interface HistoryOptions {
  /** Ids of jobs that the queue has accepted: each must be there. */
  readonly accepted?: Iterable<string>;
  /** Accepted jobs with an id from before this instant may be gone without a trace: retention drops old weeks. */
  readonly forgottenBefore?: Date;
  /** Since when queues escalate as they are set now. Jobs that were added before may have failed oftener than that. */
  readonly escalatesSince?: Date;
  /** Workers went on until they found nothing to do: no live job may be due. Give the database's clock where it is not its own. */
  readonly drained?: boolean | { readonly clock: string };
  /**
   * How late a report may be stamped. The lease is checked first; then the statement may have to wait for the job's row, while
   * nobody else can claim it; then the clock is read for the stamp. Default one second.
   */
  readonly graceMs?: number;
  /** Jobs whose reports are known to have waited longer, in milliseconds. */
  readonly waitedMs?: ReadonlyMap<string, number>;
  /** A query for effects written in the transaction that completed their job: `job_id, fencing_token`, one row an effect. */
  readonly jobEffects?: string;
  /** A query for effects of events that consumers applied; its columns are told at `checkApplied`. */
  readonly eventEffects?: string;
  /** How many faults are kept; all are counted. Default 100. */
  readonly mostFaults?: number;
}

/**
 * Checks what happened in a database of Leasehold's, from the event log and the tables alone, as one snapshot shows them:
 * every rule of `HISTORY_RULES`. Memory is bounded by the events of one job or key, and by the accepted ids.
 *
 * @example
 * const { faults, jobs } = await checkHistory(pool, { accepted: ids, drained: true });
 */
export async function checkHistory(
  pool: pg.Pool,
  options: HistoryOptions = {},
): Promise<HistoryReport> {
  const report = new ReportBuilder(options.mostFaults ?? 100);
  const client = await pool.connect();
  try {
    await client.query('begin isolation level repeatable read read only');
    // The orders asked for are those of primary keys: a plan that sorts would keep all rows.
    await client.query('set local cursor_tuple_fraction = 0.0001');
    await checkJobs(client, report, options);
    await checkDedupKeys(client, report);
    await checkOrderingKeys(client, report);
    await checkOutbox(client, report);
    report.counts.consumed = await countConsumed(client);
    const { jobEffects, eventEffects, drained = false } = options;
    if (jobEffects !== undefined) await checkJobEffects(client, report, jobEffects);
    if (eventEffects !== undefined) await checkApplied(client, report, eventEffects);
    if (drained !== false) {
      await checkDrained(client, report, drained === true ? 'clock_timestamp()' : drained.clock);
    }
    await client.query('commit');
    return report.report();
  } finally {
    client.release(true);
  }
}

async function checkJobs(
  client: pg.ClientBase,
  report: ReportBuilder,
  { accepted, forgottenBefore, escalatesSince, graceMs = 1000, waitedMs }: HistoryOptions,
): Promise<void> {
  const missing = new Set(accepted);
  for await (const rows of readJobs(client)) {
    missing.delete(rows.id);
    checkJob(rows, report, {
      graceMs: graceMs + (waitedMs?.get(rows.id) ?? 0),
      escalates: madeAt(rows.id) >= (escalatesSince?.getTime() ?? 0),
    });
  }
  for (const id of missing) {
    if (forgottenBefore !== undefined && madeAt(id) < forgottenBefore.getTime()) continue;
    report.fault('accepted_is_kept', id, 'accepted, and nothing of it is there');
  }
}

/** Milliseconds since 1970: the first 48 bits of a UUID version 7. */
function madeAt(id: string): number {
  return Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
}

/** One effect a completion, under the token that completed. */
async function checkJobEffects(
  client: pg.ClientBase,
  report: ReportBuilder,
  effects: string,
): Promise<void> {
  const query = `
    select x.job_id, count(*)::int as times, array_agg(x.fencing_token::float8) as tokens,
      (select a.fencing_token::float8 from leasehold.attempts a where a.job_id = x.job_id and a.outcome = 'succeeded' limit 1)
        as completed
    from (${effects}) x group by x.job_id`;
  type Row = { job_id: string; times: number; tokens: number[]; completed: number | null };
  for await (const { job_id: job, times, tokens, completed } of streamRows<Row>(client, query)) {
    if (times > 1) report.fault('effects_once', job, `its effect is there ${times} times`);
    const [token] = tokens;
    if (completed === null) report.fault('effects_once', job, 'has an effect and no completion');
    else if (token !== completed) {
      report.fault('no_lost_reports', job, `completed by ${completed} with the effect of ${token}`);
    }
  }
}

async function checkDrained(
  client: pg.ClientBase,
  report: ReportBuilder,
  clock: string,
): Promise<void> {
  const due = `
    select s.job_id, s.lane::int, s.queue from leasehold.job_state s
    left join leasehold.queues q on q.name = s.queue
    cross join (select ${clock} as now) c
    where s.lane < 9 and s.due_at <= c.now and q.paused_at is null and coalesce(q.push_resume_at, '-infinity') <= c.now
      -- What a limit holds back is not left behind.
      and coalesce(q.concurrency_limit, q.rate_limit, q.key_rate_limit) is null`;
  type Row = { job_id: string; lane: number; queue: string };
  for await (const { job_id: job, lane, queue } of streamRows<Row>(client, due)) {
    report.fault('nothing_left_behind', job, `due in lane ${lane} of ${queue}`);
  }
}
