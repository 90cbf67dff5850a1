import { JobReplay, signedToken } from './job-replay.ts';
import type { DeadRow, JobRows, LiveRow } from './job-rows.ts';
import type { HistoryRule, ReportBuilder } from './report.ts';

/** Instants of the log have milliseconds, those of the tables microseconds. */
const ROUNDING_MS = 2;

/** Replays the log of one job and compares what comes of it with the tables. */
export function checkJob(
  rows: JobRows,
  report: ReportBuilder,
  { graceMs, escalates }: { readonly graceMs: number; readonly escalates: boolean },
): void {
  const { id, job, events } = rows;
  const fault = (rule: HistoryRule, text: string): void => report.fault(rule, id, text);
  const replay = new JobReplay(fault, graceMs);
  const budget = {
    attempts: job?.max_attempts,
    escalateAfter: escalates ? job?.escalate_after : null,
  };
  for (const event of events) replay.add(event, budget);
  checkPlace(rows, replay, fault);
  checkAttempts(rows, replay, fault);
  checkEffects(rows, replay, fault);

  const { counts } = report;
  counts.jobs += 1;
  counts.events += events.length;
  counts.attempts += rows.attempts.length;
  counts.claims += replay.claims;
  counts.holds += replay.holds;
  counts.expiries += replay.expiries;
  if (rows.live.length > 0) counts.live += 1;
  if (rows.dead[0]?.state === 'dead') counts.dead += 1;
  if (rows.dead[0]?.state === 'escalated') counts.escalated += 1;
  if (rows.finished[0]?.state === 'succeeded') counts.succeeded += 1;
  if (rows.finished[0]?.state === 'cancelled') counts.cancelled += 1;
}

type Fault = (rule: HistoryRule, text: string) => void;

/** Live, dead or finished: one of them, and the one that the log says, with the numbers that the log says. */
function checkPlace(rows: JobRows, replay: JobReplay, fault: Fault): void {
  const { job, live, dead, finished } = rows;
  const places = live.length + dead.length + finished.length;
  if (places > 1) {
    const where = `${live.length} live, ${dead.length} dead, ${finished.length} ended`;
    fault(finished.length > 0 ? 'ends_once' : 'accepted_is_kept', `in ${places} places: ${where}`);
  }
  const ended = replay.state === 'succeeded' || replay.state === 'cancelled';
  // Retention takes the job first, then the rest of it.
  if (places === 0 && !(job === undefined && ended)) {
    return fault('accepted_is_kept', `nowhere, its log ends as ${replay.state}`);
  }
  if (job === undefined && live.length + dead.length > 0) {
    fault('accepted_is_kept', 'its immutable row is gone');
  }
  const [place] = [...live, ...dead, ...finished];
  if (place === undefined) return;
  const state = finished[0]?.state ?? (dead[0] && stateOfDead(dead[0])) ?? stateOfLive(live[0]);
  const differs = (what: string, table: unknown, log: unknown): void => {
    if (table !== log)
      fault('log_rebuilds_state', `${what}: ${String(table)}, by the log ${String(log)}`);
  };
  differs('state', state, replay.state);
  differs('fencing token', place.token, replay.token);
  differs('attempt', place.attempt, replay.attempt);
  if (finished[0] === undefined) {
    differs('redrives', live[0]?.redrives ?? dead[0]?.redrives, replay.redrives);
  }
  const leaseEndsAt = (at: number): void => {
    if (Math.abs(at - replay.leaseUntil) <= ROUNDING_MS) return;
    const apart = Math.round(at - replay.leaseUntil);
    fault('log_rebuilds_state', `its lease runs out ${apart} ms later than the log says`);
  };
  const [letter] = dead;
  if (letter !== undefined) differs('owner', letter.held_by, replay.owner);
  if (letter?.held_until != null) leaseEndsAt(letter.held_until);
  const [row] = live;
  if (row === undefined) return;
  differs('owner', row.owner, replay.owner);
  differs('called off', row.cancel_requested, replay.cancelRequested);
  differs('unknown failures', row.unknown_failures, replay.unknownFailures);
  differs(
    'parked',
    row.lane === 9,
    job !== undefined && job.ordering_key !== null && !replay.unparked,
  );
  if (row.lane === 0) leaseEndsAt(row.due_at);
}

/** A hold that ran out stays until somebody finds it. */
function stateOfDead({ state, held_by: holder }: DeadRow): string {
  return state === 'escalated' && holder !== null ? 'held' : state;
}

function stateOfLive(row: LiveRow | undefined): string {
  return row?.lane === 0 ? 'running' : 'pending';
}

/** One row an attempt, as it ended in the log; reports that name their token name the one that they ended. */
function checkAttempts({ attempts, finished }: JobRows, replay: JobReplay, fault: Fault): void {
  const told = (one: { token: number; attempt: number; owner: string; outcome: string }): string =>
    `${one.token}: attempt ${one.attempt} of ${one.owner} ${one.outcome}`;
  const ended = replay.ended.map(told).sort();
  const onRecord = attempts.map(told).sort();
  if (ended.join('\n') !== onRecord.join('\n')) {
    const extra = onRecord.filter((one) => !ended.includes(one));
    const missing = ended.filter((one) => !onRecord.includes(one));
    fault(
      'log_rebuilds_state',
      `attempts: only on record [${extra.join('; ')}], only in the log [${missing.join('; ')}]`,
    );
  }
  const succeeded = attempts.filter(({ outcome }) => outcome === 'succeeded');
  if (succeeded.length > 1) fault('ends_once', `${succeeded.length} attempts succeeded`);
  for (const { token, outcome, error } of attempts) {
    const signed = outcome === 'failed' ? signedToken(error) : undefined;
    if (signed !== undefined && signed !== token) {
      fault(
        'no_lost_reports',
        `failed: sent by the holder of ${signed}, taken for that of ${token}`,
      );
    }
  }
  const signed = signedToken(finished[0]?.result);
  if (signed !== undefined && signed !== succeeded[0]?.token) {
    fault(
      'no_lost_reports',
      `completed: sent by the holder of ${signed}, taken for that of ${succeeded[0]?.token}`,
    );
  }
}

function checkEffects({ job }: JobRows, replay: JobReplay, fault: Fault): void {
  if (job === undefined) return;
  const table = new Map(Object.entries(job.effects ?? {}));
  for (const key of new Set([...table.keys(), ...replay.effects.keys()])) {
    const [its, logged] = [table.get(key), replay.effects.get(key)];
    if (its !== logged) fault('log_rebuilds_state', `effect ${key}: ${its}, by the log ${logged}`);
  }
}
