import pg from 'pg';
import { begin } from './virtual-clock.ts';

export type Row = Record<string, string | null>;

interface Slot {
  readonly client: pg.PoolClient;
  readonly pid: number;
  open: boolean;
  repeatable: boolean;
  /** It may have written a row of floors. */
  claimed: boolean;
  /** A statement that waits for a lock of another transaction. */
  waiting: Promise<unknown> | undefined;
}

const SLOTS = 3;
/** What another transaction holds is held until a later step: waiting longer would change nothing. */
const LOCK_TIMEOUT_MS = 20;
const SETTINGS = `set lock_timeout = ${LOCK_TIMEOUT_MS}; set statement_timeout = '10s'`;

/** Some transactions that stay open from step to step; slot 0 is none of them: there each statement commits at once. */
export class OpenTransactions {
  readonly #pool: pg.Pool;
  readonly #slots: Slot[] = [];

  private constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  static async create(pool: pg.Pool): Promise<OpenTransactions> {
    const all = new OpenTransactions(pool);
    while (all.#slots.length < SLOTS) {
      const client = await pool.connect();
      await client.query(SETTINGS);
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      all.#slots.push({ client, pid: rows[0]?.pid ?? 0, ...CLOSED, waiting: undefined });
    }
    return all;
  }

  /** A transaction of a caller that claimed in it may be the one that writes floors. */
  get someoneClaimed(): boolean {
    return this.#slots.some(({ open, claimed }) => open && claimed);
  }

  isRepeatable(slot: number): boolean {
    return slot > 0 && this.#slot(slot).repeatable;
  }

  async open(number: number, isolation: 'read committed' | 'repeatable read'): Promise<boolean> {
    const slot = this.#slot(number);
    if (slot.open) return false;
    slot.open = true;
    slot.repeatable = isolation === 'repeatable read';
    await begin(slot.client, isolation);
    return true;
  }

  /** Runs a statement; undefined when it could not: what it needs is held by another transaction, or changed since. */
  async run(number: number, text: string, values: readonly unknown[]): Promise<Row[] | undefined> {
    if (number === 0) return await this.#runAlone(text, values);
    const slot = this.#slot(number);
    if (slot.waiting !== undefined) return undefined;
    await this.open(number, 'read committed');
    if (/claim\(/.test(text)) slot.claimed = true;
    try {
      return (await slot.client.query<Row>(text, [...values])).rows;
    } catch (error) {
      expectRefusal(error);
      await this.end(number, 'rollback');
      return undefined;
    }
  }

  async #runAlone(text: string, values: readonly unknown[]): Promise<Row[] | undefined> {
    const client = await this.#pool.connect();
    try {
      await client.query(SETTINGS);
      return (await client.query<Row>(text, [...values])).rows;
    } catch (error) {
      expectRefusal(error);
      return undefined;
    } finally {
      client.release();
    }
  }

  /** Opens a transaction with a statement that may wait as long as it has to. */
  async runWaiting(number: number, text: string, values: readonly unknown[]): Promise<void> {
    if (!(await this.open(number, 'read committed'))) return;
    const slot = this.#slot(number);
    const { client } = slot;
    await client.query('set local lock_timeout = 0');
    slot.waiting = client.query(text, [...values]).then(
      () => client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`),
      async (error: unknown) => {
        expectRefusal(error);
        await client.query('rollback');
        slot.open = false;
      },
    );
    await this.#untilStill(slot);
  }

  async end(number: number, how: 'commit' | 'rollback'): Promise<void> {
    const slot = this.#slot(number);
    if (!slot.open || slot.waiting !== undefined) return;
    Object.assign(slot, CLOSED);
    await slot.client.query(how);
    for (const other of this.#slots) if (other.waiting !== undefined) await this.#untilStill(other);
  }

  async commitAll(): Promise<void> {
    while (this.#slots.some(({ open }) => open)) {
      for (let slot = 1; slot <= SLOTS; slot += 1) await this.end(slot, 'commit');
    }
  }

  async close(): Promise<void> {
    for (let slot = 1; slot <= SLOTS; slot += 1) await this.end(slot, 'rollback');
    for (const { client, waiting } of this.#slots) {
      await waiting;
      await client.query('rollback; reset all');
      client.release();
    }
  }

  /** Resolves when the statement of a slot has ended, or waits for a lock again. */
  async #untilStill(slot: Slot): Promise<void> {
    let done = false;
    void slot.waiting?.then(() => (done = true));
    for (;;) {
      const { rows } = await this.#pool.query<{ waits: boolean }>(
        'select cardinality(pg_blocking_pids($1)) > 0 as waits',
        [slot.pid],
      );
      if (done) {
        slot.waiting = undefined;
        return;
      }
      if (rows[0]?.waits === true) return;
    }
  }

  #slot(number: number): Slot {
    const slot = this.#slots[number - 1];
    if (slot === undefined) throw new Error(`no slot ${number}`);
    return slot;
  }
}

const CLOSED = { open: false, repeatable: false, claimed: false };

/** Lock timeout, serialization failure, deadlock, or a key at repeatable read. */
function expectRefusal(error: unknown): void {
  const code = error instanceof pg.DatabaseError ? error.code : undefined;
  if (!['55P03', '40001', '40P01', 'LH001'].includes(code ?? '')) throw error;
}
