import type { BenchServer } from '../bench-database.ts';
import { importPeer } from '../peer-module.ts';
import type { QueueSystem, WorkOptions } from './queue-system.ts';

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
  readonly singletonKey?: string;
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

export interface PgBossSystem extends QueueSystem {
  /** `fetch` of `batchSize` jobs, and how long that took. The jobs stay claimed. */
  claimOnce(batchSize: number): Promise<{ readonly jobs: number; readonly ms: number }>;
}

/** pg-boss by `fetch` and `complete`, one job a call. Its maintenance and its cron are off: they would only cost it time. */
export async function openPgBoss(server: BenchServer): Promise<PgBossSystem> {
  const { exports, version } = await importPeer<BossModule>('pg-boss');
  const database = await server.database('pg_boss');
  const boss = new exports.PgBoss({
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
    version,
    fill: async (count, { delaySeconds, key } = {}) => {
      const job = {
        data: {},
        ...(delaySeconds === undefined ? {} : { startAfter: delaySeconds }),
        ...(key === undefined ? {} : { singletonKey: key }),
      };
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
    work: async (options) => {
      await Promise.all(Array.from({ length: options.clients }, () => work(boss, options)));
    },
    enqueue: async (count) => {
      await boss.insert(QUEUE, Array<BossJobInsert>(count).fill({ data: {} }));
    },
    claimOnce: async (batchSize) => {
      const begun = performance.now();
      const jobs = await boss.fetch(QUEUE, { batchSize });
      return { jobs: jobs.length, ms: performance.now() - begun };
    },
    settle: () => database.settle(),
    close: async () => {
      await boss.stop({ graceful: false });
      await database.drop();
    },
  };
}

async function work(boss: Boss, { signal, onJob, onEmpty }: WorkOptions): Promise<void> {
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
