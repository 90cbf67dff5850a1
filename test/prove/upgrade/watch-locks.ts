import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { Ledger } from './ledger.ts';

const LOOK_EVERY_MS = 15;

export interface LockWait {
  /** The longest wait of one statement for a lock of a table, as Postgres itself tells it. */
  longestMs: number;
  /** Statements that waited at one time, at most. */
  mostWaiting: number;
}

/** Looks, until `signal`, how long statements of others wait for locks of Leasehold's tables; by phase. */
export async function watchLocks(
  pool: pg.Pool,
  ledger: Ledger,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, LockWait>> {
  const waits = new Map<string, LockWait>();
  const client = await pool.connect();
  try {
    while (!signal.aborted) {
      const { phase } = ledger;
      const { rows } = await client.query<{ ms: number; waiting: number }>({
        name: 'look',
        text: `
          select coalesce(extract(epoch from max(clock_timestamp() - l.waitstart)) * 1000, 0)::float8 as ms,
            count(*)::int as waiting
          from pg_locks l
          join pg_stat_activity a on a.pid = l.pid
          where not l.granted and l.locktype = 'relation' and a.application_name <> 'migrator'`,
      });
      const [{ ms, waiting } = { ms: 0, waiting: 0 }] = rows;
      const so = waits.get(phase) ?? { longestMs: 0, mostWaiting: 0 };
      waits.set(phase, {
        longestMs: Math.max(so.longestMs, ms),
        mostWaiting: Math.max(so.mostWaiting, waiting),
      });
      await pause(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
    return waits;
  } finally {
    client.release();
  }
}
