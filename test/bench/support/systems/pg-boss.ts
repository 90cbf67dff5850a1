import type { BenchServer } from '../bench-database.ts';
import { importPeer } from '../peer-module.ts';
import type { OpenOptions, QueueSystem, WorkOptions } from './queue-system.ts';

const QUEUE = 'bench';
const FILL_AT_ONCE = 10_000;
const EMPTY_REST_MS = 5;
const MAX_CONNECTIONS = 300;

/** The part of pg-boss 12 that is used here. */
interface Boss {
  on(event: 'error' | 'warning', listener: (problem: unknown) => void): void;
  start(): Promise<unknown>;
  stop(options: { readonly graceful: boolean }): Promise<void>;
  createQueue(name: string): Promise<void>;
  insert(name: string, jobs: readonly BossJobInsert[]): Promise<unknown>;
  fetch(name: string, options?: { readonly batchSize?: number }): Promise<readonly BossJob[]>;
  complete(name: string, id: string | readonly string[]): Promise<unknown>;
}

interface BossJobInsert {
  readonly data: object;
  readonly startAfter?: number;
}

interface BossJob {
  readonly id: string;
}

interface BossModule {
  readonly PgBoss: new (options: {
    readonly connectionString: string;
    readonly max: number;
    readonly supervise: boolean;
    readonly schedule: boolean;
  }) => Boss;
}

/** pg-boss by `fetch` and `complete`, one job a call. Its maintenance and its cron are off: they would only cost it time. */
export async function openPgBoss(
  server: BenchServer,
  options: OpenOptions = {},
): Promise<QueueSystem> {
  const { PgBoss } = await importPeer<BossModule>('pg-boss');
  const database = await server.database(`pg_boss_${options.database ?? ''}`);
  const boss = new PgBoss({
    connectionString: database.url,
    max: MAX_CONNECTIONS,
    supervise: false,
    schedule: false,
  });
  boss.on('error', () => undefined); // a query that failed rejects as well
  boss.on('warning', () => undefined);
  await boss.start();
  await boss.createQueue(QUEUE);
  return {
    name: 'pg-boss',
    database,
    fill: async (count, { delaySeconds } = {}) => {
      const job = { data: {}, ...(delaySeconds === undefined ? {} : { startAfter: delaySeconds }) };
      for (let left = count; left > 0; left -= FILL_AT_ONCE) {
        await boss.insert(QUEUE, Array<BossJobInsert>(Math.min(left, FILL_AT_ONCE)).fill(job));
      }
    },
    pending: async () => {
      const { rows } = await database.pool.query<{ count: number }>(
        `select count(*)::int from pgboss.job where name = $1 and state < 'active' and start_after <= now()`,
        [QUEUE],
      );
      return rows[0]?.count ?? 0;
    },
    work: async (work) => {
      await Promise.all(Array.from({ length: work.clients }, () => oneClient(boss, work)));
    },
    claimMany: async (count) => {
      const begun = performance.now();
      const jobs = await boss.fetch(QUEUE, { batchSize: count });
      const ms = performance.now() - begun;
      const ids = jobs.map(({ id }) => id);
      if (ids.length > 0) await boss.complete(QUEUE, ids);
      return { jobs: jobs.length, ms };
    },
    enqueue: async (count) => {
      await boss.insert(QUEUE, Array<BossJobInsert>(count).fill({ data: {} }));
    },
    finish: async (count) => {
      await database.pool.query(
        `update pgboss.job set state = 'completed', started_on = now(), completed_on = now()
         where id in (select id from pgboss.job where name = $1 and state = 'created' limit $2)`,
        [QUEUE, count],
      );
    },
    settle: () => database.settle(),
    close: async () => {
      await boss.stop({ graceful: false });
      await database.drop();
    },
  };
}

async function oneClient(boss: Boss, { signal, onJob, onEmpty }: WorkOptions): Promise<void> {
  while (!signal.aborted) {
    const begun = performance.now();
    const [job] = await boss.fetch(QUEUE);
    const claimed = performance.now();
    if (job === undefined) {
      onEmpty?.(claimed - begun);
      await new Promise((resolve) => setTimeout(resolve, EMPTY_REST_MS));
      continue;
    }
    await boss.complete(QUEUE, job.id);
    onJob({ claimMs: claimed - begun, totalMs: performance.now() - begun });
  }
}
