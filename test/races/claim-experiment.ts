import type pg from 'pg';

/** Three ways to take a job, and what they do when four claimers come at once. */
export const CLAIM_WAYS = ['select, then update', 'for update', 'skip locked'] as const;
export type ClaimWay = (typeof CLAIM_WAYS)[number];

export interface Experiment {
  readonly way: ClaimWay;
  /** Executions of each job, in the order of jobs. */
  readonly executions: readonly number[];
  /** Executions beyond the first of each job. */
  readonly duplicates: number;
  /** How many times a claimer stood waiting for another's lock. */
  readonly waits: number;
}

const WORKERS = 4;
const JOBS = 8;
const LOCK_CLAUSE: Record<ClaimWay, string> = {
  'select, then update': '',
  'for update': 'for update',
  'skip locked': 'for update skip locked',
};

/**
 * Four claimers go through eight jobs round by round; in each round all of them look for a job before any of them has
 * marked one, which is what four machines at one table do. The interleaving is forced, so the numbers are exact.
 */
export async function runClaimExperiment(pool: pg.Pool, way: ClaimWay): Promise<Experiment> {
  const table = `experiment_${CLAIM_WAYS.indexOf(way)}`;
  await pool.query(
    `create table public.${table} (id int primary key, state text not null default 'pending');
     insert into public.${table} (id) select generate_series(1, ${JOBS})`,
  );
  const workers = await Promise.all(Array.from({ length: WORKERS }, () => pool.connect()));
  const executions = new Map<number, number>();
  let waits = 0;
  try {
    for (let taken = -1; taken !== 0;) {
      taken = 0;
      const looking = new Set(workers);
      const looks = workers.map(async (worker) => {
        await worker.query('begin');
        const { rows } = await worker.query<{ id: number }>(
          `select id from public.${table} where state = 'pending' order by id limit 1 ${LOCK_CLAUSE[way]}`,
        );
        looking.delete(worker);
        return { worker, id: rows[0]?.id };
      });
      const finish = async (worker: pg.PoolClient, id: number | undefined): Promise<void> => {
        if (id !== undefined) {
          taken += 1;
          executions.set(id, (executions.get(id) ?? 0) + 1);
          await worker.query(`update public.${table} set state = 'done' where id = $1`, [id]);
        }
        await worker.query('commit');
      };
      if (way === 'for update') {
        // Whoever has the lock goes on only when all others are seen waiting for it.
        const open = new Map(looks.map((look, i) => [i, look.then((found) => ({ ...found, i }))]));
        while (open.size > 0) {
          const { worker, id, i } = await Promise.race(open.values());
          open.delete(i);
          if (id !== undefined) waits += await untilWaiting(pool, looking);
          await finish(worker, id);
        }
      } else {
        // Everyone has looked while everyone's transaction is open: nobody waited for anybody.
        const found = await Promise.all(looks);
        await Promise.all(found.map(({ worker, id }) => finish(worker, id)));
      }
    }
  } finally {
    for (const worker of workers) worker.release();
  }
  const counts = Array.from({ length: JOBS }, (_, i) => executions.get(i + 1) ?? 0);
  const duplicates = counts.reduce((sum, count) => sum + Math.max(0, count - 1), 0);
  return { way, executions: counts, duplicates, waits };
}

/** Resolves when every one of these sessions is waiting for a lock; returns how many they are. */
async function untilWaiting(pool: pg.Pool, sessions: ReadonlySet<pg.PoolClient>): Promise<number> {
  const expected = sessions.size;
  for (;;) {
    const { rows } = await pool.query<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (rows[0]?.n === expected) return expected;
  }
}
