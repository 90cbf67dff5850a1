import pg from 'pg';
import { rowTypes } from '../../../shared/database/row-types.ts';
import type { Sql, SqlRow } from '../../../shared/ports.ts';
import { moveCall } from './simulated-clock.ts';

/** So that two sessions that wait for each other are not left so for long. */
const SETTINGS = `set deadlock_timeout = '20ms'; set statement_timeout = '20s'; set client_min_messages = error`;
const CUT = /connection|ECONN|EPIPE|socket/i;
const ROW_TYPES = rowTypes(pg.types);

/** Time that has gone by for the actors, and is still to be told to the database. */
export interface Time {
  /** Milliseconds since it was asked last. */
  passed(): number;
}

/** One connection of an actor, opened when it is needed and again when it was cut. */
export class Session {
  readonly #url: string;
  readonly #randomSeed: () => number;
  readonly #time: Time;
  readonly #settings: string;
  #client: pg.Client | undefined;
  #pid = 0;
  #open = false;

  /**
   * @param randomSeed for `random()` in the routines: from -1 to 1, one for each connection
   * @param durable whether a commit is to outlive the server
   */
  constructor(url: string, time: Time, randomSeed: () => number, durable: boolean) {
    this.#url = url;
    this.#time = time;
    this.#settings = durable ? SETTINGS : `${SETTINGS}; set synchronous_commit = off`;
    this.#randomSeed = randomSeed;
  }

  /** 0 while there is no connection. */
  get pid(): number {
    return this.#client === undefined ? 0 : this.#pid;
  }

  /** Runs statements as one transaction, from its `begin` to just before its `commit`. */
  async begin(isolation: 'read committed' | 'repeatable read' = 'read committed'): Promise<void> {
    this.#client ??= await this.#connect();
    this.#open = true;
    await this.#client.query(
      `begin isolation level ${isolation}; select ${this.#move()};
       select set_config('virtual.started', virtual.clock()::text, true)`,
    );
  }

  async commit(): Promise<void> {
    if (this.#client === undefined) throw new Error('the connection was cut');
    this.#open = false;
    await this.#client.query(`select ${this.#move()}; commit`);
  }

  /** Ends a transaction that failed, or is not to be. */
  async rollback(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    await this.#client?.query('rollback').catch(() => this.#drop());
  }

  /** For the operations, inside the transaction that was begun. */
  readonly sql: Sql = {
    query: async <Row extends SqlRow>(text: string, values: readonly unknown[]): Promise<Row[]> => {
      if (this.#client === undefined) throw new Error('the connection was cut');
      const config = { text, values: [...values], types: ROW_TYPES, queryMode: 'extended' };
      return (await this.#client.query<Row>(config)).rows;
    },
  };

  #move(): string {
    return moveCall(this.#time.passed());
  }

  close(): void {
    this.#drop();
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.#url });
    client.on('error', () => {
      if (this.#client === client) this.#drop();
    });
    await client.connect();
    const start = `${this.#settings}; select setseed(${this.#randomSeed()}), pg_backend_pid() as pid`;
    const results: unknown = await client.query(start);
    const last: unknown = Array.isArray(results) ? results.at(-1) : results;
    this.#pid = (last as pg.QueryResult<{ pid: number }>).rows[0]?.pid ?? 0;
    return client;
  }

  #drop(): void {
    const client = this.#client;
    this.#client = undefined;
    this.#open = false;
    // Nobody waits for it: a server that has gone away does not answer.
    client?.end().catch(() => undefined);
  }
}

/** Whether a caller repeats the call: the connection broke, or the database asked for it. */
export function isPassing(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) {
    return /^(?:40001|40P01|55P03|57P0\d|08\w{3})$/.test(error.code ?? '');
  }
  return error instanceof Error && CUT.test(error.message);
}
