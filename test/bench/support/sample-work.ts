import { percentile } from './stats.ts';
import type { QueueSystem } from './systems/queue-system.ts';

/** What happened since the sample before. */
export interface WorkSample {
  /** Since the work began, at the end of the sample. */
  readonly atSeconds: number;
  /** Jobs completed a second. */
  readonly rate: number;
  readonly claimMs: readonly number[];
  readonly claimP50: number;
  readonly claimP99: number;
  /** Jobs that should have been there by now and are not completed. */
  readonly backlog: number;
  /** In all tables, as the server counts them. */
  readonly deadRows: number;
}

export interface SampledWork {
  /** @param asked jobs that the load has asked for so far */
  sample(asked: number): Promise<WorkSample>;
  /** Ends the work; rejects when it failed. */
  stop(): Promise<void>;
}

/** Lets a system work until it is stopped, and looks at it in between. */
export function sampleWork(
  system: QueueSystem,
  { clients }: { readonly clients: number },
): SampledWork {
  const stopping = new AbortController();
  const begun = performance.now();
  let from = begun;
  let completed = 0;
  let before = 0;
  let claimMs: number[] = [];
  const working = system.work({
    clients,
    signal: stopping.signal,
    onJob: (times) => {
      completed += 1;
      if (times.claimMs !== undefined) claimMs.push(times.claimMs);
    },
  });
  working.catch(() => undefined); // told by stop()
  return {
    sample: async (asked) => {
      const now = performance.now();
      const taken = claimMs;
      const sample = {
        atSeconds: (now - begun) / 1000,
        rate: ((completed - before) * 1000) / (now - from),
        claimMs: taken,
        claimP50: percentile(taken, 50),
        claimP99: percentile(taken, 99),
        backlog: asked - completed,
      };
      claimMs = [];
      before = completed;
      from = now;
      const { rows } = await system.database.pool.query<{ dead: number }>(
        'select coalesce(sum(n_dead_tup), 0)::int as dead from pg_catalog.pg_stat_user_tables',
      );
      return { ...sample, deadRows: rows[0]?.dead ?? 0 };
    },
    stop: async () => {
      stopping.abort();
      await working;
    },
  };
}
