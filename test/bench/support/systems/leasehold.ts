import type pg from 'pg';
import { uuidv7 } from 'uuidv7';
import { migrate } from '../../../../infra/migrate.ts';
import type { BenchDatabase, BenchServer } from '../bench-database.ts';
import { fillLeasehold } from '../fill-leasehold.ts';
import type { QueueSystem, WorkOptions } from './queue-system.ts';

const QUEUE = 'bench';
const CLAIM = 'select * from leasehold.claim($1, $2, $3)';
const COMPLETE = 'select * from leasehold.complete($1, $2, $3)';
const COMPLETE_AND_CLAIM = 'select * from leasehold.complete_and_claim($1, $2, $3, $4, $5)';
const ENQUEUE_BATCH = 'select job_id from leasehold.enqueue_batch($1, $2)';
const EMPTY_REST_MS = 5;

/** `two-call`: claim, then complete; `fused`: completion and the next claim in one statement. */
export type LeaseholdForm = 'two-call' | 'fused';

export interface LeaseholdSystem extends QueueSystem {
  readonly database: BenchDatabase;
}

interface Claimed {
  readonly job_id: string | null;
  readonly fencing_token: string | null;
}

/** Our routines over `pg`, one unnamed statement a call, as any driver sends it. */
export async function openLeasehold(
  server: BenchServer,
  form: LeaseholdForm = 'two-call',
): Promise<LeaseholdSystem> {
  const database = await server.database(`leasehold_${form}`);
  await migrate({ connectionString: database.url, log: () => undefined });
  return leaseholdOn(database, form);
}

/** Both forms may share one database: then they also share its backlog. */
export function leaseholdOn(database: BenchDatabase, form: LeaseholdForm): LeaseholdSystem {
  return {
    name: `Leasehold, ${form}`,
    version: 'this checkout',
    database,
    fill: (count, { delaySeconds, key } = {}) =>
      fillLeasehold(database, {
        queue: QUEUE,
        count,
        ...(delaySeconds === undefined ? {} : { delaySeconds }),
        ...(key === undefined ? {} : { parkedBehind: key }),
      }),
    pending: async () => {
      const { rows } = await database.pool.query<{ count: number }>(
        `select count(*)::int from leasehold.job_state where queue = $1 and lane between 1 and 4 and due_at <= clock_timestamp()`,
        [QUEUE],
      );
      return rows[0]?.count ?? 0;
    },
    work: async (options) => {
      const client = form === 'fused' ? fusedClient : twoCallClient;
      await withClients(database, options.clients, (connection, owner) =>
        client(connection, owner, options),
      );
    },
    enqueue: async (count) => {
      await database.pool.query(ENQUEUE_BATCH, [JSON.stringify(newJobs(count)), 'bench']);
    },
    settle: () => database.settle(),
    close: () => database.drop(),
  };
}

/** Whether this checkout has the fused routine. */
export async function hasFused(database: BenchDatabase): Promise<boolean> {
  const { rows } = await database.pool.query<{ found: boolean }>(
    `select exists (
       select from pg_catalog.pg_proc where proname = 'complete_and_claim' and pronamespace = 'leasehold'::regnamespace
     ) as found`,
  );
  return rows[0]?.found === true;
}

/** Fresh jobs in the form that `enqueue_batch` takes. */
export function newJobs(
  count: number,
  more: (index: number) => Readonly<Record<string, unknown>> = () => ({}),
): readonly Readonly<Record<string, unknown>>[] {
  return Array.from({ length: count }, (_, index) => ({
    id: uuidv7(),
    queue: QUEUE,
    type: 'bench',
    payload: {},
    ...more(index),
  }));
}

async function twoCallClient(
  client: pg.Client,
  owner: string,
  { signal, onJob, onEmpty }: WorkOptions,
): Promise<void> {
  while (!signal.aborted) {
    const begun = performance.now();
    const { rows } = await client.query<Claimed>(CLAIM, [QUEUE, owner, uuidv7()]);
    const claimed = performance.now();
    const [job] = rows;
    if (job === undefined) {
      onEmpty?.(claimed - begun);
      await rest(signal);
      continue;
    }
    await client.query(COMPLETE, [job.job_id, owner, job.fencing_token]);
    onJob({ claimMs: claimed - begun, totalMs: performance.now() - begun });
  }
}

async function fusedClient(
  client: pg.Client,
  owner: string,
  { signal, onJob, onEmpty }: WorkOptions,
): Promise<void> {
  let held: Claimed | undefined;
  while (!signal.aborted) {
    const begun = performance.now();
    const { rows } =
      held === undefined
        ? await client.query<Claimed>(CLAIM, [QUEUE, owner, uuidv7()])
        : await client.query<Claimed>(COMPLETE_AND_CLAIM, [
            held.job_id,
            owner,
            held.fencing_token,
            QUEUE,
            uuidv7(),
          ]);
    const took = performance.now() - begun;
    if (held !== undefined) onJob({ totalMs: took });
    const [row] = rows;
    held = row === undefined || row.job_id === null ? undefined : row;
    if (held === undefined) {
      onEmpty?.(took);
      await rest(signal);
    }
  }
  if (held !== undefined) await client.query(COMPLETE, [held.job_id, owner, held.fencing_token]);
}

/** Runs `use` on `count` connections at a time and closes them after it. */
async function withClients(
  database: BenchDatabase,
  count: number,
  use: (client: pg.Client, owner: string) => Promise<void>,
): Promise<void> {
  const clients = await Promise.all(Array.from({ length: count }, () => database.connect()));
  try {
    await Promise.all(clients.map((client, index) => use(client, `bench-${index}`)));
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}

async function rest(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => setTimeout(resolve, EMPTY_REST_MS));
}
