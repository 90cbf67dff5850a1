/**
 * Runs a built Worker in workerd, the open-source runtime of Cloudflare Workers, through Miniflare: everything happens
 * offline, requests reach workerd over a real socket, and secrets go to it through a pipe, not on its command line.
 */
import { Miniflare, type MiniflareOptions } from 'miniflare';
import type { WorkerBuild } from './build-worker.ts';
import { childrenOf } from './processes.ts';

export interface WorkerOptions {
  readonly build: WorkerBuild;
  /** Settings and secrets, on top of `[vars]`. */
  readonly env: Readonly<Record<string, string>>;
  /** A free port when left out. */
  readonly port?: number;
  /** Receives what the Worker logs. */
  readonly log?: (line: string) => void;
}

export interface LocalWorker {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** Process id of workerd. */
  readonly pid: number;
  /** Runs the scheduled handler once, to its end; throws when it failed. */
  runCron(): Promise<void>;
  /** Ends workerd. Safe to call when it is dead already. */
  stop(): Promise<void>;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const CRON = '* * * * *';

/** Starts the Worker; resolves when it accepts requests. */
export async function startWorker(options: WorkerOptions): Promise<LocalWorker> {
  const before = new Set(childrenOf(process.pid));
  const miniflare = withoutSignalHandlers(() => new Miniflare(miniflareOptions(options)));
  const url = await miniflare.ready;
  const pid = childrenOf(process.pid, 'workerd').find((child) => !before.has(child));
  if (pid === undefined) throw new Error('workerd has started but is not to be found.');
  return {
    url: url.origin,
    pid,
    runCron: async () => {
      const worker = await miniflare.getWorker();
      const { outcome } = await worker.scheduled({ cron: CRON });
      if (outcome !== 'ok') throw new Error(`The scheduled handler ended with "${outcome}".`);
    },
    stop: () => miniflare.dispose(),
  };
}

function miniflareOptions({ build, env, port, log }: WorkerOptions): MiniflareOptions {
  const settings = Object.entries({ ...build.vars, ...env }).map(
    ([name, value]) => [name, { type: 'text' as const, value }] as const,
  );
  const services = Object.entries(build.services).map(
    ([name, worker]) => [name, { type: 'worker' as const, worker }] as const,
  );
  const objects = Object.entries(build.durableObjects);
  const classes = objects.map(
    ([, className]) => [className, { type: 'durable-object', storage: 'sqlite' }] as const,
  );
  const namespaces = objects.map(
    ([name, exportName]) =>
      [name, { type: 'durable-object' as const, worker: build.name, exportName }] as const,
  );
  return {
    host: '127.0.0.1',
    port: port ?? 0,
    cf: false,
    logRequests: false,
    telemetry: { enabled: false },
    ...(log && { handleStructuredLogs: ({ message }) => log(message) }),
    workers: [
      {
        config: {
          name: build.name,
          compatibilityDate: build.compatibilityDate,
          compatibilityFlags: [...build.compatibilityFlags],
          manifest: {
            mainModule: 'worker.js',
            modulesRoot: '/',
            modules: { 'worker.js': { type: 'esm', contents: build.code } },
          },
          env: Object.fromEntries<
            | (typeof settings)[number][1]
            | (typeof services)[number][1]
            | (typeof namespaces)[number][1]
            | { readonly type: 'assets' }
          >([...settings, ...services, ...namespaces, [build.assets.binding, { type: 'assets' }]]),
          assets: {
            directory: build.assets.directory,
            hasUserWorker: true,
            runWorkerFirst: build.assets.workerFirst,
          },
          exports: Object.fromEntries(classes),
        },
      },
    ],
  };
}

/** Miniflare ends the process at the first signal, before anything else has stopped: whoever starts it decides instead. */
function withoutSignalHandlers<T>(make: () => T): T {
  const before = new Map(SIGNALS.map((signal) => [signal, new Set(process.listeners(signal))]));
  const made = make();
  for (const signal of SIGNALS) {
    for (const listener of process.listeners(signal)) {
      if (!before.get(signal)?.has(listener)) process.off(signal, listener);
    }
  }
  return made;
}
