import { setTimeout as pause } from 'node:timers/promises';
import type { WorkerBuild } from '../../../infra/local/build-worker.ts';
import { startSqlEndpoint, type SqlEndpoint } from '../../../infra/local/sql-endpoint/endpoint.ts';
import { startWorker, type LocalWorker } from '../../../infra/local/worker.ts';

const CRON_EVERY_MS = 1000;

/** Workers of one release, behind an endpoint of their own that counts what they ask the database. */
export class Fleet {
  readonly #workers: readonly LocalWorker[];
  readonly #endpoint: SqlEndpoint;
  readonly #stopping = new AbortController();
  readonly #cron: Promise<void>;
  #turn = 0;
  /** Ticks of the cron that failed. */
  failedTicks = 0;
  /** Events that the Workers logged as warnings and errors. */
  readonly logged = new Map<string, number>();

  private constructor(workers: readonly LocalWorker[], endpoint: SqlEndpoint) {
    this.#workers = workers;
    this.#endpoint = endpoint;
    this.#cron = this.#tick();
  }

  static async start(options: {
    readonly build: WorkerBuild;
    readonly workers: number;
    readonly upstream: { readonly host: string; readonly port: number };
    /** Without `DATABASE_URL`. */
    readonly env: Readonly<Record<string, string>>;
    readonly databaseUrl: (port: number) => string;
  }): Promise<Fleet> {
    const endpoint = await startSqlEndpoint({ upstream: options.upstream, poolSize: 10 });
    const lines: string[] = [];
    const workers: LocalWorker[] = [];
    let keep = (line: string): void => void lines.push(line);
    for (let count = 0; count < options.workers; count += 1) {
      workers.push(
        await startWorker({
          build: options.build,
          env: { ...options.env, DATABASE_URL: options.databaseUrl(endpoint.port) },
          log: (line) => keep(line),
        }),
      );
    }
    const fleet = new Fleet(workers, endpoint);
    keep = (line) => fleet.#note(line);
    for (const line of lines) fleet.#note(line);
    return fleet;
  }

  /** Statements and batches that the Workers have asked for. */
  get statements(): number {
    return this.#endpoint.requests;
  }

  /** One Worker after another. */
  url(): string {
    this.#turn = (this.#turn + 1) % this.#workers.length;
    return this.#workers[this.#turn]?.url ?? '';
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#cron;
    await Promise.all(this.#workers.map((worker) => worker.stop()));
    await this.#endpoint.close();
  }

  async #tick(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      for (const worker of this.#workers) {
        await worker.runCron().catch(() => {
          this.failedTicks += 1;
        });
        await pause(CRON_EVERY_MS, undefined, { signal }).catch(() => undefined);
        if (signal.aborted) return;
      }
    }
  }

  #note(line: string): void {
    let entry: { readonly level?: unknown; readonly event?: unknown; readonly code?: unknown };
    try {
      entry = JSON.parse(line) as typeof entry;
    } catch {
      return this.#count(line.slice(0, 120));
    }
    const { level, event, code } = entry;
    if (level === 'info') return;
    this.#count([event, code].filter((part) => typeof part === 'string').join(' '));
  }

  #count(what: string): void {
    this.logged.set(what, (this.logged.get(what) ?? 0) + 1);
  }
}
