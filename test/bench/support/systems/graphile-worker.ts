import { EventEmitter } from 'node:events';
import type { BenchDatabase, BenchServer } from '../bench-database.ts';
import { importPeer } from '../peer-module.ts';
import type { OpenOptions, QueueSystem, WorkOptions } from './queue-system.ts';

const TASK = 'bench';
const FILL_AT_ONCE = 10_000;
/** The pool needs connections beside those of the workers: graphile-worker's documentation asks for two more. */
const SPARE_CONNECTIONS = 2;
/** As in its own published measurement. */
const BATCHING = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };
/** The task whose job holds the blocked key. */
const HOLD = 'hold';
const COMPLETIONS_MS = 3000;
const BLOCKED_KEY = 'blocked';

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
  readonly taskList: Readonly<Record<string, () => void | Promise<void>>>;
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
export async function openGraphile(
  server: BenchServer,
  form: GraphileForm,
  options: OpenOptions = {},
): Promise<QueueSystem> {
  const graphile = await importPeer<GraphileModule>('graphile-worker');
  const database = await server.database(`graphile_${options.database ?? form}`);
  const logger = new graphile.Logger(() => () => undefined);
  const utils = await graphile.makeWorkerUtils({ connectionString: database.url, logger });
  await utils.migrate();
  const ending = new AbortController();
  const held: Promise<void>[] = [];
  const addJobs = async (count: number, job: JobSpec): Promise<void> => {
    for (let left = count; left > 0; left -= FILL_AT_ONCE) {
      await utils.addJobs(Array<JobSpec>(Math.min(left, FILL_AT_ONCE)).fill(job));
    }
  };
  const run = async (
    more: Pick<RunOptions, 'concurrency' | 'events' | 'taskList' | 'preset'>,
    signal: AbortSignal,
  ): Promise<void> => {
    const runner = await graphile.run({
      connectionString: database.url,
      maxPoolSize: more.concurrency + SPARE_CONNECTIONS,
      pollInterval: 5,
      noHandleSignals: true,
      parsedCronItems: [],
      logger,
      ...more,
    });
    await aborted(signal);
    await runner.stop();
  };
  return {
    name: `graphile-worker, ${form}`,
    database,
    fill: (count, { delaySeconds } = {}) =>
      addJobs(count, {
        identifier: TASK,
        payload: {},
        ...(delaySeconds === undefined ? {} : { runAt: after(delaySeconds) }),
      }),
    pending: async () => {
      const { rows } = await database.pool.query<{ count: number }>(
        `select count(*)::int from graphile_worker.jobs
         where locked_at is null and run_at <= now() and queue_name is null`,
      );
      return rows[0]?.count ?? 0;
    },
    work: (work) =>
      run(
        {
          concurrency: work.clients,
          events: listen(work, form),
          taskList: { [TASK]: () => undefined },
          preset: { worker: form === 'batched' ? BATCHING : {} },
        },
        work.signal,
      ),
    enqueue: (count) => addJobs(count, { identifier: TASK, payload: {} }),
    finish: async (count) => {
      await database.pool.query(
        'delete from graphile_worker._private_jobs where id in (select id from graphile_worker._private_jobs limit $1)',
        [count],
      );
    },
    blockKey: async (count) => {
      const started = Promise.withResolvers<void>();
      const hold = (): Promise<void> => {
        started.resolve();
        return aborted(ending.signal);
      };
      await addJobs(1, { identifier: HOLD, payload: {}, queueName: BLOCKED_KEY });
      held.push(
        run(
          {
            concurrency: 1,
            events: new EventEmitter(),
            taskList: { [HOLD]: hold },
            preset: { worker: {} },
          },
          ending.signal,
        ),
      );
      await started.promise;
      await addJobs(count, { identifier: TASK, payload: {}, queueName: BLOCKED_KEY });
    },
    settle: () => database.settle(),
    close: async () => {
      ending.abort();
      await Promise.all(held);
      await untilCompleted(database);
      await utils.release();
      await database.drop();
    },
  };
}

/** Stopping does not wait for the last completions, and they must not meet a dropped database. */
async function untilCompleted(database: BenchDatabase): Promise<void> {
  const patient = performance.now() + COMPLETIONS_MS;
  for (;;) {
    const { rows } = await database.pool.query(
      'select from graphile_worker.jobs where locked_at is not null limit 1',
    );
    if (rows.length === 0 || performance.now() > patient) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
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
