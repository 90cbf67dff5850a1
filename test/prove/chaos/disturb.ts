import { setTimeout as pause } from 'node:timers/promises';
import type { SqlEndpoint } from '../../../infra/local/sql-endpoint/endpoint.ts';
import type { Fault } from '../../../infra/local/sql-endpoint/faults.ts';
import type { SeededRandom } from '../../simulation/world/random.ts';

/** What the endpoint did to its callers. */
export interface LostAnswers {
  /** Committed, and the answer never came. */
  lost: number;
  /** Never executed: dropped, refused, cancelled. */
  refused: number;
  delayed: number;
}

/** Calls `act` again and again, about `everyMs` apart, until `signal`; one at a time. */
export async function every(
  everyMs: number,
  { random, signal }: { readonly random: SeededRandom; readonly signal: AbortSignal },
  act: () => Promise<void> | void,
): Promise<void> {
  while (!signal.aborted) {
    await pause(everyMs * (0.5 + random.next()), undefined, { signal }).catch(() => undefined);
    if (!signal.aborted) await act();
  }
}

/** Statements that come through between two faults: a call tries five times, and most of them should get through. */
const CALM_STATEMENTS = 12;

/** Breaks one answer after another, whichever statement comes next. */
export async function breakAnswers(
  endpoint: SqlEndpoint,
  everyMs: number,
  order: { readonly random: SeededRandom; readonly signal: AbortSignal },
  counted: LostAnswers,
): Promise<void> {
  const { random, signal } = order;
  const stopped = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  let before = endpoint.requests;
  await every(everyMs, order, async () => {
    if (endpoint.requests < before + CALM_STATEMENTS) return;
    before = endpoint.requests;
    const kind = random.weighted({
      drop_after_commit: 50,
      truncate: 20,
      drop_before: 10,
      status: 8,
      sql_error: 4,
      delay: 8,
    });
    const { fired } = endpoint.faults.next(faultOf(kind, random));
    await Promise.race([fired, stopped]);
    if (signal.aborted) return;
    if (kind === 'drop_after_commit' || kind === 'truncate') counted.lost += 1;
    else if (kind === 'delay') counted.delayed += 1;
    else counted.refused += 1;
  });
  endpoint.faults.clear();
}

function faultOf(kind: Fault['kind'], random: SeededRandom): Fault {
  switch (kind) {
    case 'delay':
      return { kind, ms: random.between(100, 3000) };
    case 'status':
      return { kind, status: random.pick([500, 502, 503, 504]) };
    case 'sql_error':
      return { kind, code: random.pick(['40001', '40P01', '57P01', '08006']) };
    case 'drop_after_commit':
    case 'truncate':
    case 'drop_before':
      return { kind };
  }
}
