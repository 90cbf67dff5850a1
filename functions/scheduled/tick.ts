import { LeaseholdError } from '../../shared/errors.ts';
import { TICK_NOTED_EVERY_SECONDS } from '../../shared/limits.ts';
import type { EventFeed } from '../../shared/ports.ts';
import { takeTurn } from '../../shared/queue/take-turn.ts';
import type { AppDeps } from '../deps.ts';
import { ensureSchema } from '../schema-gate.ts';
import { drain } from './drain.ts';
import { relayScheduled } from './relay.ts';
import type { RelayDeps } from './relay.ts';
import { retainHourly } from './retain.ts';
import { fireSchedules } from './schedules.ts';

export type TickDeps = RelayDeps &
  Pick<AppDeps, 'sql' | 'schema' | 'handlers' | 'poker' | 'wake' | 'random' | 'log'> & {
    readonly feed: EventFeed;
  };

/**
 * The scheduled pass: fires schedules, drains (so that what was just fired is poked for), publishes events of the outbox,
 * and once an hour removes what has outlived its retention. A part that fails does not stop the others; then the tick as a
 * whole fails, for the platform to show, and the next tick covers everything, because nothing but the database remembers
 * what is undecided.
 *
 * Ticks may overlap, be cut off anywhere and come late: every step is one transaction that says itself whether it is
 * still to be done. A tick that did its work is noted (`last_tick_at` of `GET /v1/ready`), every few minutes and not
 * each time.
 *
 * @param signal stops at the next edge of a transaction; what is left is the next tick's
 * @throws {Error} what the first part that failed threw, or the reason of the signal
 */
export async function tick(deps: TickDeps, signal?: AbortSignal): Promise<void> {
  await ensureSchema(deps.sql, deps.schema);
  const parts = {
    schedules: fireSchedules,
    drain,
    relay: relayScheduled,
    retain: retainHourly,
  };
  let failure: Error | undefined;
  for (const [part, run] of Object.entries(parts)) {
    signal?.throwIfAborted();
    try {
      await run(deps, signal);
      deps.feed.changed();
    } catch (error) {
      signal?.throwIfAborted();
      const code = error instanceof LeaseholdError ? error.code : 'internal_error';
      deps.log.error('tick_part_failed', { part, code });
      failure ??= error instanceof Error ? error : new Error(`${part} failed`, { cause: error });
    }
  }
  if (failure !== undefined) throw failure;
  await takeTurn(deps.sql, { name: 'tick', everySeconds: TICK_NOTED_EVERY_SECONDS });
}
