import { EventEmitter } from 'node:events';
import type { BenchServer } from '../bench-database.ts';
import { importPeer } from '../peer-module.ts';
import type { QueueSystem, WorkOptions } from './queue-system.ts';

const TASK = 'bench';
const FILL_AT_ONCE = 10_000;
/** The pool needs connections beside those of the workers: graphile-worker's documentation asks for two more. */
const SPARE_CONNECTIONS = 2;
/** The size in its own published measurement. */
const LOCAL_QUEUE_SIZE = 500;

/** The part of graphile-worker 0.18 that is used here. */
interface GraphileModule {
  run(options: RunOptions): Promise<Runner>;
  makeWorkerUtils(options: {
    readonly connectionString: string;
    readonly logger: unknown;
  }): Promise<Utils>;
  readonly Logger: new (factory: () => () => void) => unknown;
}

interface RunOptions {
  readonly connectionString: string;
  readonly concurrency: number;
  readonly maxPoolSize: number;
  readonly pollInterval: number;
  readonly noHandleSignals: boolean;
  readonly parsedCronItems: readonly never[];
  readonly logger: unknown;
  readonly events: EventEmitter;
  readonly taskList: Readonly<Record<string, () => void>>;
  readonly preset: { readonly worker: object };
}

interface Runner {
  stop(): Promise<void>;
}

interface Utils {
  migrate(): Promise<void>;
  addJobs(jobs: readonly JobSpec[]): Promise<unknown>;
  release(): Promise<void>;
}

interface JobSpec {
  readonly identifier: string;
  readonly payload: object;
  readonly runAt?: Date;
  readonly queueName?: string;
}

interface WorkerEvent {
  readonly worker: object;
}

/** `batched`: its local queue and its batches of completions, as in its own measurements. */
export type GraphileForm = 'unbatched' | 'batched';

/**
 * graphile-worker by `run` and `addJobs`; times come from its events. It does not wait for a completion before the worker's
 * next claim, so the time of claim and completion together cannot be told.
 */
export async function openGraphile(server: BenchServer, form: GraphileForm): Promise<QueueSystem> {
  const { exports: graphile, version } = await importPeer<GraphileModule>('graphile-worker');
  const database = await server.database(`graphile_${form}`);
  const logger = new graphile.Logger(() => () => undefined);
  const utils = await graphile.makeWorkerUtils({ connectionString: database.url, logger });
  await utils.migrate();
  const addJobs = async (count: number, job: JobSpec): Promise<void> => {
    for (let left = count; left > 0; left -= FILL_AT_ONCE) {
      await utils.addJobs(Array<JobSpec>(Math.min(left, FILL_AT_ONCE)).fill(job));
    }
  };
  return {
    name: `graphile-worker, ${form}`,
    version,
    fill: (count, { delaySeconds, key } = {}) =>
      addJobs(count, {
        identifier: TASK,
        payload: {},
        ...(delaySeconds === undefined ? {} : { runAt: after(delaySeconds) }),
        ...(key === undefined ? {} : { queueName: key }),
      }),
    pending: async () => {
      const { rows } = await database.pool.query<{ count: number }>(
        'select count(*)::int from graphile_worker.jobs where locked_at is null and run_at <= now()',
      );
      return rows[0]?.count ?? 0;
    },
    work: async (options) => {
      const runner = await graphile.run({
        connectionString: database.url,
        concurrency: options.clients,
        maxPoolSize: options.clients + SPARE_CONNECTIONS,
        pollInterval: 5,
        noHandleSignals: true,
        parsedCronItems: [],
        logger,
        events: listen(options, form),
        taskList: { [TASK]: () => undefined },
        preset: {
          worker:
            form === 'batched'
              ? {
                  localQueue: { size: LOCAL_QUEUE_SIZE },
                  completeJobBatchDelay: 0,
                  failJobBatchDelay: 0,
                }
              : {},
        },
      });
      await aborted(options.signal);
      await runner.stop();
    },
    enqueue: (count) => addJobs(count, { identifier: TASK, payload: {} }),
    settle: () => database.settle(),
    close: async () => {
      await utils.release();
      await database.drop();
    },
  };
}

function listen({ onJob, onEmpty }: WorkOptions, form: GraphileForm): EventEmitter {
  const events = new EventEmitter();
  if (form === 'batched') return events.on('job:complete', () => onJob({}));
  const asked = new Map<object, number>();
  const claims = new Map<object, number>();
  const since = (worker: object): number => performance.now() - (asked.get(worker) ?? Number.NaN);
  events.on('worker:getJob:start', ({ worker }: WorkerEvent) =>
    asked.set(worker, performance.now()),
  );
  events.on('job:start', ({ worker }: WorkerEvent) => claims.set(worker, since(worker)));
  events.on('worker:getJob:empty', ({ worker }: WorkerEvent) => onEmpty?.(since(worker)));
  events.on('job:complete', ({ worker }: WorkerEvent) =>
    onJob({ claimMs: claims.get(worker) ?? Number.NaN }),
  );
  return events;
}

function after(seconds: number): Date {
  return new Date(Date.now() + seconds * 1000);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
