import pg from 'pg';
import { rowTypes } from '../../../shared/database/row-types.ts';
import type { Sql, SqlRow } from '../../../shared/ports.ts';
import type { Connection, Connections } from './connections.ts';
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
  readonly #connections: Connections;
  readonly #randomSeed: () => number;
  readonly #time: Time;
  readonly #settings: string;
  #connection: Connection | undefined;
  #open = false;

  /**
   * @param randomSeed for `random()` in the routines: from -1 to 1, one for each connection
   * @param durable whether a commit is to outlive the server
   */
  constructor(connections: Connections, time: Time, randomSeed: () => number, durable: boolean) {
    this.#connections = connections;
    this.#time = time;
    this.#settings = durable ? SETTINGS : `${SETTINGS}; set synchronous_commit = off`;
    this.#randomSeed = randomSeed;
  }

  /** 0 while there is no connection. */
  get pid(): number {
    return this.#connection?.pid ?? 0;
  }

  /** Whether a transaction is open. */
  get isOpen(): boolean {
    return this.#open;
  }

  /** Runs statements as one transaction, from its `begin` to just before its `commit`. */
  async begin(isolation: 'read committed' | 'repeatable read' = 'read committed'): Promise<void> {
    const { client } = (this.#connection ??= await this.#connect());
    this.#open = true;
    await client.query(
      `begin isolation level ${isolation}; select ${this.#move()};
       select set_config('virtual.started', virtual.clock()::text, true)`,
    );
  }

  async commit(): Promise<void> {
    await this.#held().client.query(`select ${this.#move()}; commit`);
    this.#open = false;
  }

  /** Ends a transaction that failed, or is not to be. */
  async rollback(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    await this.#connection?.client.query('rollback').catch(() => this.close());
  }

  /** For the operations, inside the transaction that was begun. */
  readonly sql: Sql = {
    query: async <Row extends SqlRow>(text: string, values: readonly unknown[]): Promise<Row[]> => {
      const { client } = this.#held();
      const config = { text, values: [...values], types: ROW_TYPES, queryMode: 'extended' };
      return (await client.query<Row>(config)).rows;
    },
  };

  #move(): string {
    return moveCall(this.#time.passed());
  }

  /** Ends it in order, for others to use its connection. */
  async release(): Promise<void> {
    await this.rollback();
    const connection = this.#connection;
    this.#connection = undefined;
    if (connection !== undefined) this.#connections.give(connection);
  }

  /** Lets a connection go that was cut. */
  close(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#open = false;
    // Nobody waits for it: a server that has gone away does not answer.
    connection?.client.end().catch(() => undefined);
  }

  async #connect(): Promise<Connection> {
    const connection = await this.#connections.take();
    await connection.client.query(
      `reset all; ${this.#settings}; select setseed(${this.#randomSeed()})`,
    );
    return connection;
  }

  #held(): Connection {
    if (this.#connection === undefined) throw new Error('the connection was cut');
    return this.#connection;
  }
}

/** Whether a caller repeats the call: the connection broke, or the database asked for it. */
export function isPassing(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) {
    return /^(?:40001|40P01|55P03|57P0\d|08\w{3})$/.test(error.code ?? '');
  }
  return error instanceof Error && CUT.test(error.message);
}
