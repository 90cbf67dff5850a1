import type pg from 'pg';
import { fillQueue } from './backlog.ts';

/** Keeps autovacuum away from every table of ours: its own snapshots would keep dead entries too. */
export async function withoutAutovacuum(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class where relnamespace = 'leasehold'::regnamespace and relkind = 'r'`,
  );
  for (const { name } of rows) {
    await pool.query(`alter table ${name} set (autovacuum_enabled = off)`);
  }
}

/**
 * Removes dead entries, which claims do by themselves unless somebody holds them up: an old snapshot of this database, and
 * for a while every transaction of the server that writes for long, such as another test's.
 */
export async function removeDeadEntries(pool: pg.Pool): Promise<void> {
  await pool.query('vacuum leasehold.job_state');
}

export interface OldSnapshot {
  release(): Promise<void>;
}

/** Opens a snapshot that stays. */
export async function holdSnapshot(pool: pg.Pool): Promise<OldSnapshot> {
  const client = await pool.connect();
  await client.query('begin isolation level repeatable read');
  await client.query('select 1 from leasehold.queues');
  return {
    release: async () => {
      await client.query('commit');
      client.release();
    },
  };
}

/**
 * What many claims and completions leave behind in the claim index: each job's entry in its lane, and the one of its lease,
 * which has come due since. `live` jobs are due behind them.
 */
export async function leaveDeadEntries(
  pool: pg.Pool,
  queue: string,
  dead: number,
  live: number,
): Promise<void> {
  await fillQueue(pool, queue, dead);
  await pool.query(
    `update leasehold.job_state set lane = 0, owner = 'w', due_at = due_at + interval '1 second' where queue = $1`,
    [queue],
  );
  await pool.query('delete from leasehold.job_state where queue = $1', [queue]);
  await fillQueue(pool, queue, live);
}

/** Makes the rows of a queue's floors older, so that the next claims may write new ones. */
export async function ageFloors(pool: pg.Pool, queue: string, seconds = 1): Promise<void> {
  await pool.query(
    `update leasehold.claim_floors
     set at = at - make_interval(secs => $2), full_at = full_at - make_interval(secs => $2)
     where queue = $1`,
    [queue, seconds],
  );
}
