import { setTimeout as pause } from 'node:timers/promises';
import { buildWorker, type WorkerBuild } from '../../../infra/local/build-worker.ts';
import { isAlive } from '../../../infra/local/processes.ts';
import { startWorker, type LocalWorker } from '../../../infra/local/worker.ts';

const CRON_EVERY_MS = 1000;
const CRON_PATIENCE_MS = 15_000;
const POLL_MS = 10;
const START_TRIES = 5;
const FLAGS_VARIABLE = 'MINIFLARE_WORKERD_V8_FLAGS';
/**
 * What the runtime keeps outside its heaps for a request (20 KiB) goes with the last object that points there, so a process
 * grows for as long as V8 sees no need to collect, by hundreds of MiB. Here each collection is a full one and comes soon,
 * a heap has half of what the platform allows, and tells what was left: what grows then is a leak.
 */
const V8_FLAGS = '--gc-global --max-semi-space-size=1 --max-old-space-size=64 --trace-gc';
const COLLECTION = /(0x[0-9a-f]+)\].*Mark-Compact[^>]*-> (\d+(?:\.\d+)?) /;

/** Workers in workerd processes of their own: killed, started again, each with a cron of its own. */
export class WorkerFleet {
  readonly #build: WorkerBuild;
  readonly #env: Readonly<Record<string, string>>;
  readonly #slots: (LocalWorker | undefined)[];
  /** Starts one after another: each is found as the child that was not there before. */
  #starting: Promise<void> = Promise.resolve();
  #turn = 0;
  #kills = 0;
  #ticks = 0;
  #stopping = false;
  readonly #heaps = new Map<string, number>();

  private constructor(build: WorkerBuild, env: Readonly<Record<string, string>>, workers: number) {
    this.#build = build;
    this.#env = env;
    this.#slots = Array.from({ length: workers }, () => undefined);
  }

  /** @param folder where the bundle goes */
  static async start(options: {
    readonly folder: string;
    readonly env: Readonly<Record<string, string>>;
    readonly workers: number;
  }): Promise<WorkerFleet> {
    process.env[FLAGS_VARIABLE] = V8_FLAGS;
    const fleet = new WorkerFleet(await buildWorker(options.folder), options.env, options.workers);
    for (const slot of fleet.#slots.keys()) await fleet.#startIn(slot);
    return fleet;
  }

  get kills(): number {
    return this.#kills;
  }

  /** Ticks of the cron that went well. */
  get ticks(): number {
    return this.#ticks;
  }

  /** Process ids; the first is never killed, so that its memory tells something. */
  get pids(): readonly (number | undefined)[] {
    return this.#slots.map((worker) => worker?.pid);
  }

  /** MiB that its last full collection has left of the largest heap in the first Worker's process. */
  get liveHeap(): number {
    return Math.max(0, ...this.#heaps.values());
  }

  /** The address of a Worker that lives, another each time. */
  url(): string {
    for (let tries = 0; tries < this.#slots.length; tries += 1) {
      this.#turn = (this.#turn + 1) % this.#slots.length;
      const worker = this.#slots[this.#turn];
      if (worker !== undefined) return worker.url;
    }
    return 'http://127.0.0.1:9'; // none: the caller tries again
  }

  /** SIGKILL for any but the first, and a new one in its place. */
  async kill(choose: (count: number) => number): Promise<void> {
    const slot = 1 + choose(this.#slots.length - 1);
    const worker = this.#slots[slot];
    if (worker === undefined) return;
    this.#slots[slot] = undefined;
    process.kill(worker.pid, 'SIGKILL');
    while (isAlive(worker.pid)) await pause(POLL_MS);
    this.#kills += 1;
    await worker.stop();
    await this.#startIn(slot);
  }

  /** Ticks of every Worker until `signal`: one after another, as a platform's cron gives them. */
  async tick(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const worker of this.#slots) {
        if (worker === undefined) continue;
        const ticked = worker.runCron().then(
          () => void (this.#ticks += 1),
          () => undefined, // killed meanwhile, or without a database: the next tick comes
        );
        await Promise.race([ticked, pause(CRON_PATIENCE_MS, undefined, { ref: false })]);
        await pause(CRON_EVERY_MS / this.#slots.length);
      }
    }
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#starting;
    for (const worker of this.#slots) await worker?.stop();
    delete process.env[FLAGS_VARIABLE];
  }

  async #startIn(slot: number): Promise<void> {
    this.#starting = this.#starting.then(async () => {
      for (let tries = 1; !this.#stopping; tries += 1) {
        try {
          this.#slots[slot] = await startWorker({
            build: this.#build,
            env: this.#env,
            // Outages are what the run is about.
            log: (line) => {
              const [, heap, left] = (slot === 0 && COLLECTION.exec(line)) || [];
              if (heap !== undefined) this.#heaps.set(heap, Number(left));
            },
          });
          return;
        } catch (error) {
          if (tries >= START_TRIES) throw error;
        }
      }
    });
    await this.#starting;
  }
}
