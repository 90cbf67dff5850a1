import type pg from 'pg';
import { uuidv7 } from 'uuidv7';
import { migrate } from '../../../../infra/migrate.ts';
import type { BenchDatabase, BenchServer } from '../bench-database.ts';
import { fillDue, fillParked, finishDue } from '../fill-leasehold.ts';
import type { ManyClaimed, OpenOptions, QueueSystem, WorkOptions } from './queue-system.ts';

const QUEUE = 'bench';
const CLAIM = 'select * from leasehold.claim($1, $2, $3)';
const COMPLETE = 'select * from leasehold.complete($1, $2, $3)';
const COMPLETE_AND_CLAIM = 'select * from leasehold.complete_and_claim($1, $2, $3, $4, $5)';
const ENQUEUE_BATCH = 'select job_id from leasehold.enqueue_batch($1, $2)';
const CLAIM_MANY = 'select * from leasehold.claim($1, $2, $3, p_limit => $4)';
const BLOCKED_KEY = 'blocked';
const DAY_SECONDS = 86_400;
const EMPTY_REST_MS = 5;

/** `two-call`: claim, then complete; `fused`: completion and the next claim in one statement. */
export type LeaseholdForm = 'two-call' | 'fused';

interface Claimed {
  readonly job_id: string | null;
  readonly fencing_token: string | null;
}

/** Our routines over `pg`, one unnamed statement a call, as any driver sends it. */
export async function openLeasehold(
  server: BenchServer,
  form: LeaseholdForm = 'two-call',
  options: OpenOptions = {},
): Promise<QueueSystem> {
  const database = await server.database(`leasehold_${options.database ?? form}`);
  await migrate({ connectionString: database.url, log: () => undefined });
  return leaseholdOn(database, form);
}

/** Both forms may share one database: then they also share its backlog. */
export function leaseholdOn(database: BenchDatabase, form: LeaseholdForm): QueueSystem {
  const client = form === 'fused' ? fusedClient : twoCallClient;
  return {
    name: `Leasehold, ${form}`,
    database,
    fill: (count, options = {}) => fillDue(database, { queue: QUEUE, count, ...options }),
    pending: async () => {
      const { rows } = await database.pool.query<{ count: number }>(
        `select count(*)::int from leasehold.job_state where queue = $1 and lane between 1 and 4 and due_at <= clock_timestamp()`,
        [QUEUE],
      );
      return rows[0]?.count ?? 0;
    },
    work: (options) =>
      withClients(database, options.clients, (connection, owner) =>
        client(connection, owner, options),
      ),
    claimMany: (count) => claimMany(database.pool, count),
    enqueue: (count) => enqueueJobs(database, count),
    finish: (count) => finishDue(database, QUEUE, count),
    blockKey: (count) => blockKey(database, count),
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

async function claimMany(pool: pg.Pool, count: number): Promise<ManyClaimed> {
  const owner = 'bench-many';
  const client = await pool.connect();
  try {
    const begun = performance.now();
    const { rows } = await client.query<Claimed>(CLAIM_MANY, [QUEUE, owner, uuidv7(), count]);
    const ms = performance.now() - begun;
    for (const job of rows) await client.query(COMPLETE, [job.job_id, owner, job.fencing_token]);
    return { jobs: rows.length, ms };
  } finally {
    client.release();
  }
}

/** The head of the key is leased for a day; everything behind it stays parked. */
async function blockKey(database: BenchDatabase, count: number): Promise<void> {
  const settings = JSON.stringify({ lease_seconds: 3600, max_run_seconds: DAY_SECONDS });
  await database.pool.query('select leasehold.configure_queue($1, $2, $3)', [
    QUEUE,
    settings,
    'bench',
  ]);
  await enqueueJobs(database, 1, () => ({ ordering_key: BLOCKED_KEY }));
  const { rows } = await database.pool.query<Claimed>(CLAIM, [QUEUE, 'holder', uuidv7()]);
  if (rows.length !== 1) throw new Error('The head of the blocked key was not claimed.');
  await fillParked(database, { queue: QUEUE, key: BLOCKED_KEY, count });
}

/** One call that adds `count` jobs, each with what `more` gives it: keys, a delay. */
export async function enqueueJobs(
  database: BenchDatabase,
  count: number,
  more?: (index: number) => Readonly<Record<string, unknown>>,
): Promise<void> {
  await database.pool.query(ENQUEUE_BATCH, [JSON.stringify(newJobs(count, more)), 'bench']);
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
