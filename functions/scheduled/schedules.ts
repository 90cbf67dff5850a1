import { slotTimes } from '../../shared/cron.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import { inParallel } from '../../shared/in-parallel.ts';
import { MAX_CONCURRENT_FIRINGS, MAX_TICK_READS, MAX_TICK_SCHEDULES } from '../../shared/limits.ts';
import type { Sql } from '../../shared/ports.ts';
import { lookAgainAfterMs } from '../../shared/wake/look-again.ts';
import { dueSchedules } from '../../shared/queue/due-schedules.ts';
import type { DueSchedule } from '../../shared/queue/due-schedules.ts';
import { fireSchedule } from '../../shared/queue/fire-schedule.ts';
import { slotsToFire } from '../../shared/schedule-slots.ts';
import { slotJobId } from '../../shared/slot-job-id.ts';
import type { AppDeps } from '../deps.ts';

/** An id that belongs to another job is a thing of intent, not of chance; a few new ones are enough. */
const MAX_ID_ROUNDS = 3;

/** What one tick did about schedules. */
export interface SchedulesReport {
  /** Schedules that this tick decided. */
  readonly decided: number;
  readonly jobs: number;
  /** Schedules left to another tick that was faster, or paused, changed or deleted meanwhile. */
  readonly elsewhere: number;
  /** Schedules whose slots stay undecided for the next tick; each is in the log. */
  readonly failed: number;
}

/**
 * Fires the schedules whose slot has come: one job a slot, for ever. Each schedule is decided in one transaction of its
 * own, so a tick that is cut off at any point leaves whole schedules decided and the others to the next tick, and ticks
 * that overlap share the work: they start at different places, and who comes second finds a schedule decided.
 *
 * @param signal stops between two schedules
 * @throws {Error} when the database does not tell what is due, or the wake clock does not take when to come again
 */
export async function fireSchedules(
  deps: Pick<AppDeps, 'sql' | 'random' | 'log' | 'wake' | 'clock'>,
  signal?: AbortSignal,
): Promise<SchedulesReport> {
  const { sql, log, random, wake, clock } = deps;
  const report = { decided: 0, jobs: 0, elsewhere: 0, failed: 0 };
  /** After which time the next tick should come for what this one leaves. */
  let againInMs = Number.POSITIVE_INFINITY;
  for (let read = 0; read < MAX_TICK_READS; read += 1) {
    signal?.throwIfAborted();
    const due = await dueSchedules(sql, { limit: MAX_TICK_SCHEDULES });
    const fired = await inParallel(
      startingAt(due, random.next()),
      MAX_CONCURRENT_FIRINGS,
      async (one) => {
        signal?.throwIfAborted();
        const jobs = await fireOne(deps, one).catch((error: unknown) => {
          log.error('schedule_failed', {
            schedule: one.schedule.name,
            code: error instanceof LeaseholdError ? error.code : 'internal_error',
          });
          againInMs = Math.min(againInMs, lookAgainAfterMs(overdueMs(one)));
          throw error;
        });
        report.decided += jobs === undefined ? 0 : 1;
        report.elsewhere += jobs === undefined ? 1 : 0;
        report.jobs += jobs ?? 0;
      },
    );
    report.failed = fired.rejected;
    // Fewer than asked for: there are no more. None done: the next read would find the same ones.
    if (due.length < MAX_TICK_SCHEDULES || fired.fulfilled === 0) break;
    if (read === MAX_TICK_READS - 1) againInMs = 0;
  }
  signal?.throwIfAborted();
  if (report.decided + report.elsewhere + report.failed > 0) log.info('schedules_fired', report);
  if (againInMs < Number.POSITIVE_INFINITY) await wake.wakeAt(clock.now() + againInMs);
  return report;
}

function overdueMs({ schedule, now }: DueSchedule): number {
  return now.getTime() - Date.parse(schedule.next_slot_at ?? schedule.decided_until);
}

/** @returns how many jobs were made, or undefined when the schedule was decided elsewhere */
async function fireOne(
  { sql, log }: Pick<AppDeps, 'sql' | 'log'>,
  { schedule, now }: DueSchedule,
): Promise<number | undefined> {
  const times = slotTimes(schedule.cron, schedule.zone);
  const { slots, dropped } = slotsToFire(times, {
    decidedUntil: Date.parse(schedule.decided_until),
    now: now.getTime(),
    missed: schedule.missed,
    missedLimit: schedule.missed_limit,
  });
  const fired = await fireWithFreshIds(
    sql,
    { schedule, now },
    slots,
    times.nextAfter(now.getTime()),
  );
  if (fired.outcome === 'decided_elsewhere') return undefined;
  if (dropped) {
    log.warn('schedule_slots_missed', {
      schedule: schedule.name,
      policy: schedule.missed,
      since: schedule.decided_until,
    });
  }
  return fired.jobs;
}

async function fireWithFreshIds(
  sql: Sql,
  { schedule, now }: DueSchedule,
  slots: readonly number[],
  next: number | null,
): ReturnType<typeof fireSchedule> {
  for (let round = 0; ; round += 1) {
    const named = slots.map(async (slot) => ({
      at: new Date(slot).toISOString(),
      job_id: await slotJobId({ schedule: schedule.name, slot, now: now.getTime(), round }),
    }));
    try {
      return await fireSchedule(sql, {
        name: schedule.name,
        decidedUntil: schedule.decided_until,
        slots: await Promise.all(named),
        until: now.toISOString(),
        nextSlotAt: next === null ? null : new Date(next).toISOString(),
      });
    } catch (error) {
      const isTaken = error instanceof LeaseholdError && error.code === 'job_id_conflict';
      if (!isTaken || round + 1 >= MAX_ID_ROUNDS) throw error;
    }
  }
}

/** The same list from another start, so that two ticks at once begin with different schedules. */
function startingAt<Item>(items: readonly Item[], start: number): readonly Item[] {
  const at = Math.floor(start * items.length);
  return [...items.slice(at), ...items.slice(0, at)];
}
