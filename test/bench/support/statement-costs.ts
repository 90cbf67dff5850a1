import type { BenchDatabase } from './bench-database.ts';

/** What the statements of a database cost together; none of it depends on what else the machine does, but for the time. */
export interface StatementCosts {
  readonly statements: number;
  readonly walBytes: number;
  /** Pages of shared memory looked at, cached or not. */
  readonly buffers: number;
  /** Planning and execution, waiting included. */
  readonly milliseconds: number;
}

/** Forgets what was counted so far. */
export async function resetCosts(database: BenchDatabase): Promise<void> {
  await database.pool.query('select pg_stat_statements_reset()');
}

/** Costs since the reset, without those of filling and looking, which go over the pool of the database. */
export async function readCosts(database: BenchDatabase): Promise<StatementCosts> {
  const { rows } = await database.pool.query<StatementCosts>(
    `select coalesce(sum(s.calls), 0)::float8 as statements,
       coalesce(sum(s.wal_bytes), 0)::float8 as "walBytes",
       coalesce(sum(s.shared_blks_hit + s.shared_blks_read), 0)::float8 as buffers,
       coalesce(sum(s.total_plan_time + s.total_exec_time), 0) as milliseconds
     from pg_stat_statements s
     join pg_catalog.pg_database d on d.oid = s.dbid
     where d.datname = current_database() and s.toplevel and s.query not like '%pg_stat_statements%'`,
  );
  return rows[0] ?? { statements: 0, walBytes: 0, buffers: 0, milliseconds: 0 };
}

/** Costs of one of `jobs`. */
export function perJob(costs: StatementCosts, jobs: number): StatementCosts {
  return {
    statements: costs.statements / jobs,
    walBytes: costs.walBytes / jobs,
    buffers: costs.buffers / jobs,
    milliseconds: costs.milliseconds / jobs,
  };
}
