import { expect } from 'vitest';

import type { AppDeps } from '../../../functions/deps.ts';
import { webClock } from '../../../functions/web-ports.ts';
import type { Sql } from '../../../shared/ports.ts';
import type { Answer } from './app-harness.ts';
import type { ScriptedWork } from './scripted-work.ts';

/** Enqueues jobs with these behaviours, in order; nothing of it is left in the background. */
export async function enqueued(at: ScriptedWork, behaviours: readonly string[]): Promise<string[]> {
  const ids = [];
  for (const behaviour of behaviours) ids.push(await at.enqueue(behaviour));
  await at.app.backgroundDone();
  at.app.pokes.length = 0;
  return ids;
}

export const fine = (count: number): string[] => Array.from({ length: count }, () => 'fine');

/** One poke, and the statements that it cost. */
export async function worked(
  at: ScriptedWork,
  overrides: Partial<AppDeps> = {},
): Promise<{ readonly body: Answer['body']; readonly roundTrips: number }> {
  const before = at.app.http.endpoint.requests;
  const { status, body } = await at.work(0, overrides);
  expect(status).toBe(200);
  const roundTrips = at.app.http.endpoint.requests - before;
  await at.app.backgroundDone();
  return { body, roundTrips };
}

/** A clock that a test can put forward; timers go on as they are. */
export function clockAhead(): { readonly clock: AppDeps['clock']; put(ms: number): void } {
  let aheadMs = 0;
  return {
    clock: { now: () => webClock.now() + aheadMs },
    put: (ms) => {
      aheadMs += ms;
    },
  };
}

/** Jobs under a lease now. */
export async function runningOf(at: ScriptedWork): Promise<number> {
  const { rows } = await at.app.database.pool.query<{ running: number }>(
    'select count(*)::int as running from leasehold.job_state where lane = 0',
  );
  return rows[0]?.running ?? Number.NaN;
}

/** The port of the app, but something happens after each statement of one routine, its answer aside. */
export function afterStatement(at: ScriptedWork, routine: string, happens: () => void): Sql {
  const { sql } = at.app.deps();
  return {
    query: async (text, values, options) => {
      const rows = await sql.query<never>(text, values, options);
      if (text.includes(`leasehold.${routine}(`)) happens();
      return rows;
    },
  };
}
