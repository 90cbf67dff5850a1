import type { BenchServer } from '../support/bench-database.ts';
import { importPeer } from '../support/peer-module.ts';
import { wallClock, type StartProbe } from './start-probe.ts';

const TASK = 'bench';
const CONCURRENCY = 2;
/** Its default: far longer than a notification takes. */
const POLL_INTERVAL_MS = 2000;

/** The part of graphile-worker 0.18 that is used here. */
interface GraphileModule {
  run(options: {
    readonly connectionString: string;
    readonly concurrency: number;
    readonly pollInterval: number;
    readonly noHandleSignals: boolean;
    readonly parsedCronItems: readonly never[];
    readonly logger: unknown;
    readonly taskList: Readonly<Record<string, (payload: unknown, helpers: Helpers) => void>>;
  }): Promise<Runner>;
  readonly Logger: new (factory: () => () => void) => unknown;
}

interface Runner {
  addJob(identifier: string, payload: object): Promise<unknown>;
  stop(): Promise<void>;
}

interface Helpers {
  readonly job: { readonly created_at: Date };
}

/** graphile-worker as it comes: a LISTEN connection tells its workers of new jobs. */
export async function openGraphileListener(server: BenchServer): Promise<StartProbe> {
  const graphile = await importPeer<GraphileModule>('graphile-worker');
  const database = await server.database('latency_graphile');
  let started = Promise.withResolvers<{ readonly at: number; readonly createdAt: number }>();
  const runner = await graphile.run({
    connectionString: database.url,
    concurrency: CONCURRENCY,
    pollInterval: POLL_INTERVAL_MS,
    noHandleSignals: true,
    parsedCronItems: [],
    logger: new graphile.Logger(() => () => undefined),
    taskList: {
      [TASK]: (_payload, { job }) =>
        started.resolve({ at: wallClock(), createdAt: job.created_at.getTime() }),
    },
  });
  return {
    name: 'graphile-worker, LISTEN',
    enqueueOne: async () => {
      started = Promise.withResolvers();
      const begun = wallClock();
      await runner.addJob(TASK, {});
      const { at, createdAt } = await started.promise;
      return { fromCallMs: at - begun, fromRowMs: at - createdAt };
    },
    close: async () => {
      await runner.stop();
      await database.drop();
    },
  };
}
