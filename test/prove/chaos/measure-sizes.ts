import { readFileSync } from 'node:fs';
import type pg from 'pg';
import { median } from '../../bench/support/stats.ts';

/** One look at how much the run keeps, in MiB. */
export interface Sizes {
  readonly minute: number;
  readonly database: number;
  /** Of the tables: rows that are live and dead, as the statistics have them. */
  readonly deadRows: number;
  /** The Worker that is never killed: its process, and what its last full collection left of a heap. */
  readonly worker: number;
  readonly liveHeap: number;
  /** All processes of Postgres, without the memory that they share. */
  readonly postgres: number;
}

export async function measureSizes(
  pool: pg.Pool,
  at: {
    readonly minute: number;
    readonly workerPid: number | undefined;
    readonly liveHeap: number;
    readonly postgresPids: readonly number[];
  },
): Promise<Sizes> {
  const { rows } = await pool.query<{ bytes: number; dead: number }>(
    `select pg_database_size(current_database())::float8 as bytes,
       (select coalesce(sum(n_dead_tup), 0)::float8 from pg_stat_user_tables where schemaname = 'leasehold') as dead`,
  );
  return {
    minute: at.minute,
    database: mebi(rows[0]?.bytes ?? 0),
    deadRows: rows[0]?.dead ?? 0,
    worker: at.workerPid === undefined ? 0 : memoryOf(at.workerPid),
    liveHeap: at.liveHeap,
    postgres: at.postgresPids.reduce((sum, pid) => sum + memoryOf(pid), 0),
  };
}

/** Whether the last third is no larger than the middle third, but for a share: growth would go on and on. */
export function isFlat(values: readonly number[], allowed: number): boolean {
  const third = Math.floor(values.length / 3);
  if (third === 0) return true;
  return median(values.slice(-third)) <= median(values.slice(third, -third)) * (1 + allowed);
}

function mebi(bytes: number): number {
  return Math.round((bytes / 2 ** 20) * 10) / 10;
}

/** Anonymous memory of a process: its own, without files and shared buffers. Zero where the system does not tell. */
function memoryOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return mebi(Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024);
  } catch {
    return 0;
  }
}
