import { z } from 'zod';

import type { TickDeps } from '../../../functions/scheduled/tick.ts';
import { NO_WAKE_CLOCK } from '../../../functions/wake/no-wake-clock.ts';
import { webClock, webIds, webRandom, webTimer } from '../../../functions/web-ports.ts';
import { parseConfig } from '../../../shared/config.ts';
import { slotTimes } from '../../../shared/cron.ts';
import { defineHandler } from '../../../shared/handler.ts';
import { handlerRegistry } from '../../../shared/handler-registry.ts';
import type { Poke } from '../../../shared/ports.ts';
import { putSchedule } from '../../../shared/queue/put-schedule.ts';
import type { Schedule, ScheduleSettings } from '../../../shared/queue/schedule.ts';
import { createTestDatabase } from '../../support/database.ts';
import type { TestDatabase } from '../../support/database.ts';
import { createHttpSql } from '../../support/http-sql.ts';
import type { HttpSql } from '../../support/http-sql.ts';
import { RecordingLog } from '../../unit/support/recording-log.ts';

/** The queue that this deployment has a handler for. */
export const SERVED = 'served';

export interface FiredSlot {
  readonly schedule: string;
  readonly slot: string;
  readonly jobId: string;
}

/** Ticks over the production driver and a real database, with faults where a test puts them. */
export interface TickWorld {
  readonly database: TestDatabase;
  readonly http: HttpSql;
  readonly log: RecordingLog;
  readonly pokes: Poke[];
  deps(overrides?: Partial<TickDeps>): TickDeps;
  /** Makes a schedule, by default one that fires each minute. */
  put(name: string, settings?: Partial<ScheduleSettings>): Promise<Schedule>;
  /** As if the last decision had been made `seconds` ago and nothing had ticked since. */
  ticksStoppedFor(name: string, seconds: number): Promise<Schedule>;
  /** Slots with the jobs that are stored for them, oldest first. */
  fired(name: string): Promise<FiredSlot[]>;
  /** No schedules, slots, jobs, turns, pokes, faults and log lines. */
  reset(): Promise<void>;
  /** Resolves when `count` statements that match wait for a lock of another session. */
  blocked(match: string, count?: number): Promise<void>;
  close(): Promise<void>;
}

export async function createTickWorld(): Promise<TickWorld> {
  const database = await createTestDatabase();
  const log = new RecordingLog();
  // Jitter at its shortest, so that the pauses between tries take no time.
  const http = await createHttpSql(database, { ports: { random: { next: () => 0 } } });
  const pokes: Poke[] = [];
  const { pool, sql } = database;
  const handler = defineHandler({
    queue: SERVED,
    type: 't',
    schema: z.unknown(),
    run: () => undefined,
  });
  const base: TickDeps = {
    sql: http.sql,
    schema: { verified: false },
    handlers: handlerRegistry([handler]),
    poker: {
      send: async (poke) => {
        pokes.push(poke);
        return 'taken';
      },
    },
    wake: NO_WAKE_CLOCK,
    feed: { changed: () => undefined },
    config: parseConfig({
      DATABASE_URL: http.connectionString,
      AUTH_SECRET: 'a-secret-for-tests-of-32-bytes-or-more',
      POKE_SECRETS: `whsec_${btoa('the poke key of the tests of ticks')}`,
    }),
    clock: webClock,
    timer: webTimer,
    ids: webIds,
    random: webRandom,
    log,
    invocationMs: 30_000,
  };
  return {
    database,
    http,
    log,
    pokes,
    deps: (overrides = {}) => ({ ...base, ...overrides }),
    put: async (name, settings = {}) => {
      const schedule: ScheduleSettings = {
        name,
        cron: '* * * * *',
        zone: 'UTC',
        queue: SERVED,
        type: 't',
        payload: null,
        priority: 'normal',
        max_attempts: null,
        missed: 'latest',
        missed_limit: 10,
        overlap: 'allow',
        ...settings,
      };
      const next = slotTimes(schedule.cron, schedule.zone).nextAfter(await databaseNow());
      return await putSchedule(sql, {
        schedule,
        nextSlotAt: next === null ? null : new Date(next).toISOString(),
        actor: 'test',
      });
    },
    ticksStoppedFor: async (name, seconds) => {
      const { rows } = await pool.query<{ schedule: Schedule }>(
        `update leasehold.schedules s
         set decided_until = clock_timestamp() - make_interval(secs => $2),
           next_slot_at = clock_timestamp() - make_interval(secs => $2) + interval '1 millisecond'
         where name = $1
         returning leasehold.schedule_document(s) as schedule`,
        [name, seconds],
      );
      const [row] = rows;
      if (row === undefined) throw new Error('no such schedule');
      return row.schedule;
    },
    fired: async (name) => {
      const { rows } = await pool.query<FiredSlot>(
        `select l.schedule, leasehold.iso(l.slot_at) as slot, l.job_id as "jobId"
         from leasehold.schedule_slots l
         join leasehold.jobs j on j.id = l.job_id
         where l.schedule = $1
         order by l.slot_at`,
        [name],
      );
      return rows;
    },
    reset: async () => {
      http.endpoint.faults.clear();
      await pool.query(
        `delete from leasehold.schedules; delete from leasehold.schedule_slots; delete from leasehold.turns;
         delete from leasehold.job_state; delete from leasehold.jobs`,
      );
      pokes.length = 0;
      log.lines.length = 0;
    },
    blocked: async (match, count = 1) => {
      for (;;) {
        const { rows } = await pool.query<{ waiting: number }>(
          `select count(*)::int as waiting from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock' and query like $1`,
          [`%${match}%`],
        );
        if ((rows[0]?.waiting ?? 0) >= count) return;
      }
    },
    close: async () => {
      await http.close();
      await database.drop();
    },
  };

  async function databaseNow(): Promise<number> {
    const { rows } = await pool.query<{ now: Date }>('select clock_timestamp() as now');
    return rows[0]?.now.getTime() ?? 0;
  }
}

/** A daily expression in UTC for the minute that lies so far from the present one. */
export function dailyAt(minutesFromNow: number): string {
  const at = new Date(Date.now() + minutesFromNow * 60_000);
  return `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`;
}
