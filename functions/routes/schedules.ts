import { cronProblem, slotTimes, zoneProblem } from '../../shared/cron.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import { SHOWN_SLOTS } from '../../shared/limits.ts';
import { defined } from '../../shared/defined.ts';
import { deleteSchedule } from '../../shared/queue/delete-schedule.ts';
import { getSchedule } from '../../shared/queue/get-schedule.ts';
import { listSchedules } from '../../shared/queue/list-schedules.ts';
import { putSchedule } from '../../shared/queue/put-schedule.ts';
import type { Schedule } from '../../shared/queue/schedule.ts';
import { setSchedulePaused } from '../../shared/queue/set-schedule-paused.ts';
import { scheduleListQuery } from '../../shared/schemas/schedule-list-query.ts';
import { scheduleName } from '../../shared/schemas/schedule-name.ts';
import { scheduleRequest } from '../../shared/schemas/schedule-request.ts';
import type { AppDeps } from '../deps.ts';
import { allowsQueue, queuesOf, requireQueue } from '../middleware/queue-access.ts';
import { readJson } from '../middleware/read-json.ts';
import { readParam, readQuery } from '../middleware/read-query.ts';
import { askWake } from '../wake/ask-wake.ts';
import type { Route, RouteContext } from './route.ts';

/** A schedule and the slots that it will fire next: none while it is paused or its times are not understood here. */
export interface ScheduleAnswer extends Schedule {
  readonly next_slots: readonly string[];
}

/** Schedules by name, by pages; with a token for certain queues, theirs. */
export const listSchedulesRoute: Route = {
  method: 'GET',
  path: '/v1/schedules',
  access: { kind: 'token', scope: 'read' },
  database: true,
  handle: async (context, deps) => {
    const query = readQuery(context, scheduleListQuery);
    const page = await listSchedules(deps.sql, defined({ ...query, only: queuesOf(context) }));
    return context.json({ schedules: page.schedules, next_cursor: page.nextCursor });
  },
};

/** One schedule with its next slots. */
export const readSchedule: Route = {
  method: 'GET',
  path: '/v1/schedules/:name',
  access: { kind: 'token', scope: 'read' },
  database: true,
  handle: async (context, deps) => {
    return context.json(answer(deps, await allowedSchedule(context, deps)));
  },
};

/** Makes the schedule or changes it to exactly this; the answer shows the slots to come, for a person to check. */
export const putScheduleRoute: Route = {
  method: 'PUT',
  path: '/v1/schedules/:name',
  access: { kind: 'token', scope: 'operate' },
  database: true,
  handle: async (context, deps) => {
    const name = nameOf(context);
    const request = await readJson(context, scheduleRequest);
    requireQueue(context, request.queue);
    await requireName(context, deps, name);
    const schedule = await withNextSlot(deps, request, (nextSlotAt) =>
      putSchedule(deps.sql, {
        schedule: { name, ...request },
        nextSlotAt,
        actor: context.get('actor'),
      }),
    );
    wakeForSlot(deps, schedule);
    return context.json(answer(deps, schedule));
  },
};

/** Removes it; jobs that it made stay. */
export const removeSchedule: Route = {
  method: 'DELETE',
  path: '/v1/schedules/:name',
  access: { kind: 'token', scope: 'operate' },
  database: true,
  handle: async (context, deps) => {
    const { name } = await allowedSchedule(context, deps);
    const { deleted } = await deleteSchedule(deps.sql, { name });
    if (!deleted) throw noSchedule();
    return context.body(null, 204);
  },
};

/** Stops firing; slots that pass meanwhile are not made up for. */
export const pauseSchedule: Route = {
  method: 'POST',
  path: '/v1/schedules/:name/pause',
  access: { kind: 'token', scope: 'operate' },
  database: true,
  handle: async (context, deps) => {
    const { name } = await allowedSchedule(context, deps);
    const paused = await setSchedulePaused(deps.sql, { name, paused: true, nextSlotAt: null });
    return context.json(answer(deps, found(paused)));
  },
};

/** Fires again, from the next slot on. */
export const resumeSchedule: Route = {
  method: 'POST',
  path: '/v1/schedules/:name/resume',
  access: { kind: 'token', scope: 'operate' },
  database: true,
  handle: async (context, deps) => {
    const kept = await allowedSchedule(context, deps);
    const resumed = await withNextSlot(deps, kept, async (nextSlotAt) =>
      found(await setSchedulePaused(deps.sql, { name: kept.name, paused: false, nextSlotAt })),
    );
    wakeForSlot(deps, resumed);
    return context.json(answer(deps, resumed));
  },
};

function wakeForSlot(deps: AppDeps, { next_slot_at: nextSlotAt }: Schedule): void {
  if (nextSlotAt !== null) askWake(deps, [new Date(nextSlotAt)]);
}

/**
 * Stores a schedule with the first slot after now. Now is a matter of the database's clock, which the stored row tells: if
 * ours was ahead across a slot, it is stored once more, with the slot that ours had left out.
 */
async function withNextSlot(
  deps: Pick<AppDeps, 'clock'>,
  { cron, zone }: { readonly cron: string; readonly zone: string },
  store: (nextSlotAt: string | null) => Promise<Schedule>,
): Promise<Schedule> {
  const times = slotTimes(cron, zone);
  const stored = await store(isoOrNull(times.nextAfter(deps.clock.now())));
  const next = times.nextAfter(Date.parse(stored.decided_until));
  const isLate =
    next !== null && stored.next_slot_at !== null && Date.parse(stored.next_slot_at) > next;
  return isLate ? await store(isoOrNull(next)) : stored;
}

function answer({ clock }: Pick<AppDeps, 'clock'>, schedule: Schedule): ScheduleAnswer {
  // What was stored by SQL, or by a runtime that knew more zones, is still to be read.
  const isKnown =
    cronProblem(schedule.cron) === undefined && zoneProblem(schedule.zone) === undefined;
  if (schedule.paused || !isKnown) return { ...schedule, next_slots: [] };
  const times = slotTimes(schedule.cron, schedule.zone);
  const slots: string[] = [];
  let slot = times.nextAfter(Math.max(clock.now(), Date.parse(schedule.decided_until)));
  while (slot !== null && slots.length < SHOWN_SLOTS) {
    slots.push(new Date(slot).toISOString());
    slot = times.nextAfter(slot);
  }
  return { ...schedule, next_slots: slots };
}

function isoOrNull(instantMs: number | null): string | null {
  return instantMs === null ? null : new Date(instantMs).toISOString();
}

function nameOf(context: RouteContext): string {
  return readParam(context, 'name', scheduleName);
}

/** The schedule that the path names; one for a queue that the token is not for does not exist for this caller. */
async function allowedSchedule(
  context: RouteContext,
  { sql }: Pick<AppDeps, 'sql'>,
): Promise<Schedule> {
  const schedule = found(await getSchedule(sql, { name: nameOf(context) }));
  if (!allowsQueue(context, schedule.queue)) throw noSchedule();
  return schedule;
}

/** A token for certain queues cannot take over the schedule of another one. Costs a look-up for such tokens alone. */
async function requireName(
  context: RouteContext,
  { sql }: Pick<AppDeps, 'sql'>,
  name: string,
): Promise<void> {
  if (context.get('queues') === undefined) return;
  const taken = await getSchedule(sql, { name });
  if (taken !== undefined) requireQueue(context, taken.queue);
}

function found(schedule: Schedule | undefined): Schedule {
  if (schedule === undefined) throw noSchedule();
  return schedule;
}

function noSchedule(): LeaseholdError {
  return new LeaseholdError('not_found', 'No schedule has this name.');
}
