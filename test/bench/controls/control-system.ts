import type pg from 'pg';
import { uuidv7 } from 'uuidv7';
import { migrate } from '../../../infra/migrate.ts';
import type { BenchDatabase, BenchServer } from '../support/bench-database.ts';
import { buffers, type PlanNode } from '../../sql/support/explained.ts';
import { claimLoop } from '../support/claim-loop.ts';
import { fillDue } from '../support/fill-leasehold.ts';
import { leaseholdOn } from '../support/systems/leasehold.ts';
import type { QueueSystem } from '../support/systems/queue-system.ts';
import { CONTROL_QUEUE, type Control } from './control.ts';

const PAYLOAD = {};

export interface ControlSystem extends QueueSystem {
  /** A claim whose lease is never ended; gives its milliseconds, and whether it found a job. */
  claimOnce(client: pg.Client): Promise<{ readonly ms: number; readonly found: boolean }>;
  /** The same, giving the buffers that it read. */
  claimBuffers(client: pg.Client): Promise<number>;
  /** Makes the first due jobs running for an hour. */
  hold(count: number): Promise<void>;
}

/** A control in a database of its own, behind the calls that every system has. */
export async function openControl(
  server: BenchServer,
  control: Control,
  { payload = PAYLOAD }: { readonly payload?: object } = {},
): Promise<ControlSystem> {
  const database = await server.database(`control_${control.name.toLowerCase()}`);
  const onProduct = control.on === 'product';
  if (onProduct) await migrate({ connectionString: database.url, log: () => undefined });
  if (control.schema !== '') await database.pool.query(control.schema);
  const { claim, hold } = control.statements;
  return {
    ...(onProduct ? productInput(database, payload) : inputOf(database, control, payload)),
    name: control.name,
    database,
    work: (options) => claimLoop(database, control.statements, options),
    claimOnce: async (client) => {
      const begun = performance.now();
      const { rows } = await client.query(claim, ['bench', uuidv7()]);
      return { ms: performance.now() - begun, found: rows.length > 0 };
    },
    claimBuffers: async (client) => {
      const { rows } = await client.query<{ 'QUERY PLAN': readonly [{ Plan: PlanNode }] }>(
        `explain (analyze, buffers, timing off, format json) ${claim}`,
        ['bench', uuidv7()],
      );
      const plan = rows[0]?.['QUERY PLAN'][0].Plan;
      return plan === undefined ? Number.NaN : buffers(plan);
    },
    hold: async (count) => {
      await database.pool.query(hold, [count]);
    },
  };
}

function productInput(database: BenchDatabase, payload: object): QueueSystem {
  return {
    ...leaseholdOn(database, 'two-call'),
    fill: (count, options = {}) =>
      fillDue(database, { queue: CONTROL_QUEUE, count, payload, ...options }),
  };
}

function inputOf(
  database: BenchDatabase,
  { name, input, statements: { pending } }: Control,
  payload: object,
): Omit<QueueSystem, 'name' | 'database' | 'work'> {
  if (input === undefined) throw new TypeError(`${name} does not say how jobs come in.`);
  return {
    fill: async (count, { delaySeconds } = {}) => {
      if (delaySeconds !== undefined) {
        throw new RangeError('The controls know no delays.');
      }
      await database.pool.query(input.fill, [count, JSON.stringify(payload)]);
    },
    pending: async () => {
      const { rows } = await database.pool.query<{ count: number }>(pending);
      return rows[0]?.count ?? 0;
    },
    enqueue: async (count) => {
      const payloads = Array.from({ length: count }, () => payload);
      await database.pool.query(input.enqueue, [JSON.stringify(payloads)]);
    },
    settle: () => database.settle(),
    close: () => database.drop(),
  };
}
