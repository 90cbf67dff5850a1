import { uuidv7 } from 'uuidv7';
import { migrate } from '../../../infra/migrate.ts';
import type { BenchServer } from '../support/bench-database.ts';
import { leaseholdOn } from '../support/systems/leasehold.ts';
import { CONTROL_QUEUE } from './control.ts';
import { inLimit } from './in-limit.ts';

/** Few enough that the planner takes the table for tiny, as it was when it was analysed. */
const JOBS_AFTER = 20;

export interface OverClaim {
  readonly due: number;
  /** Jobs that one claim of one job took. */
  readonly inLimit: number;
  readonly ours: number;
}

/**
 * One claim of one job, on a table that was analysed with a single job in it and then got twenty more: with stock settings
 * the planner joins the table to the inner select in a nested loop, which runs that select again for each row, and each
 * time it skips what it has locked and takes one more.
 */
export async function showOverClaim(server: BenchServer): Promise<OverClaim> {
  return {
    due: JOBS_AFTER + 1,
    inLimit: await takenByInLimit(server),
    ours: await takenByOurs(server),
  };
}

async function takenByInLimit(server: BenchServer): Promise<number> {
  const database = await server.database('over_claim_in_limit');
  try {
    const { fill = '' } = inLimit.input ?? {};
    await database.pool.query(inLimit.schema);
    await database.pool.query(fill, [1, '{}']);
    await database.settle();
    await database.pool.query(fill, [JOBS_AFTER, '{}']);
    const { rows } = await database.pool.query(inLimit.statements.claim, ['bench', uuidv7()]);
    return rows.length;
  } finally {
    await database.drop();
  }
}

async function takenByOurs(server: BenchServer): Promise<number> {
  const database = await server.database('over_claim_ours');
  try {
    await migrate({ connectionString: database.url, log: () => undefined });
    const ours = leaseholdOn(database, 'two-call');
    await ours.enqueue(1);
    await ours.settle();
    await ours.enqueue(JOBS_AFTER);
    const { rows } = await database.pool.query('select * from leasehold.claim($1, $2, $3)', [
      CONTROL_QUEUE,
      'bench',
      uuidv7(),
    ]);
    return rows.length;
  } finally {
    await database.drop();
  }
}
