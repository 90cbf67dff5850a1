import { setTimeout as pause } from 'node:timers/promises';
import { childrenOf, isAlive } from '../../../infra/local/processes.ts';
import { startPostgres, type Postgres } from '../../../infra/local/postgres.ts';

const POLL_MS = 10;
const MOST_STARTS = 100;

/** A Postgres that is killed and comes back on the same files and port. */
export class KilledPostgres {
  #server: Postgres;
  readonly #dataDir: string;
  #kills = 0;

  private constructor(server: Postgres, dataDir: string) {
    this.#server = server;
    this.#dataDir = dataDir;
  }

  static async start(dataDir: string): Promise<KilledPostgres> {
    return new KilledPostgres(await startPostgres({ dataDir, settings: SETTINGS }), dataDir);
  }

  get server(): Postgres {
    return this.#server;
  }

  /** Kills of the whole server. */
  get kills(): number {
    return this.#kills;
  }

  /** Process ids of the server and all its backends. */
  get pids(): readonly number[] {
    return [this.#server.pid, ...childrenOf(this.#server.pid)];
  }

  /** SIGKILL for the server and every process of it: what it had not written is gone. Resolves when it is back. */
  async kill(): Promise<void> {
    const { port, pid, ended } = this.#server;
    const children = childrenOf(pid);
    for (const one of [pid, ...children]) killNow(one);
    await ended;
    while (children.some((child) => isAlive(child))) await pause(POLL_MS);
    this.#kills += 1;
    this.#server = await this.#restart(port);
  }

  /** A backend that was born between the list and the kill holds the shared memory until it sees that its parent is gone. */
  async #restart(port: number): Promise<Postgres> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await startPostgres({ dataDir: this.#dataDir, port, settings: SETTINGS });
      } catch (error) {
        if (tries >= MOST_STARTS) throw error;
        await pause(POLL_MS * 10);
      }
    }
  }

  /** SIGKILL for one backend: Postgres throws out all others and recovers by itself. */
  killBackend(choose: (count: number) => number): void {
    const backends = childrenOf(this.#server.pid, 'leasehold');
    const chosen = backends[choose(backends.length)];
    if (chosen !== undefined) killNow(chosen);
  }

  async stop(): Promise<void> {
    await this.#server.stop();
  }
}

/** Durable as in production; checkpoints often enough that a recovery takes a moment. */
const SETTINGS = {
  max_connections: '80',
  max_wal_size: '512MB',
  autovacuum_naptime: '10s',
};

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended by itself
  }
}
