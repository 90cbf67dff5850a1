/**
 * What the platform-free code needs from outside: time, randomness, ids, the database, logs.
 * Nothing else in `shared/` may read a clock, a random source or the environment.
 */

/** Wall clock of this process. Never decides ownership: leases live by the database clock. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

/** Pauses that a caller can abort. */
export interface Timer {
  /** Resolves after `milliseconds`, or rejects with the signal's reason when it aborts first. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** Uniform randomness for jitter. Not for secrets. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
}

/** Fresh identifiers. */
export interface Ids {
  /** A UUID version 7 (RFC 9562): time-ordered, so that inserts land at the right edge of an index. */
  uuidv7(): string;
}

/** The only parameter types a statement may bind: each has one text form, the same through every driver. */
export type SqlValue = string | number | boolean | null;

/** A row as the driver returns it: 64-bit integers are strings, `jsonb` is parsed, `timestamptz` is a `Date`. */
export type SqlRow = Record<string, unknown>;

export interface SqlOptions {
  /** Aborts the statement. The outcome of an aborted write is unknown. */
  readonly signal?: AbortSignal;
}

/**
 * One autocommit statement. Implementations retry serialization failures, deadlocks, lock timeouts and unknown
 * outcomes, so **every statement given to it must be safe to repeat**.
 */
export interface Sql {
  query<Row extends SqlRow>(
    text: string,
    values: readonly SqlValue[],
    options?: SqlOptions,
  ): Promise<Row[]>;
}

export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Structured log. `event` names are snake_case and public; fields never hold payloads, secrets or error texts. */
export interface Log {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

/** "There is work in this queue": a hint that may be lost or come twice. */
export interface Poke {
  readonly queue: string;
  /** How many pokes led to this one; bounded by `MAX_POKE_DEPTH`. */
  readonly depth: number;
  /** Sent by a drain, which looks again by itself: one that finds nothing need not ask for another drain. */
  readonly drain?: boolean;
  /** "There are events to publish": for the relay of the outbox, whatever the queue. */
  readonly relay?: boolean;
}

/**
 * - `taken`: the worker took a job.
 * - `idle`: the worker answered that there is nothing for it to take.
 * - `sent`: it is on its way, and nobody waits for an answer.
 * - `held`: it was not sent, because enough are on their way.
 * - `failed`: it did not arrive, or was refused.
 */
export type PokeOutcome = 'taken' | 'idle' | 'sent' | 'held' | 'failed';

/** Sends a poke. Failure is logged by the implementation, never thrown: the drain covers a lost one. */
export interface Poker {
  send(poke: Poke): Promise<PokeOutcome>;
}

/** Tells who follows the event log that something was committed: a hint that may be lost or come twice. */
export interface EventFeed {
  /** Call after the commit. Never fails, and nobody waits for it. */
  changed(): void;
}

/** Requests to receivers of pushed jobs. */
export interface Outbound {
  /** @param options.addresses connect to one of these, whatever the name resolves to by now; never without `lookup` */
  fetch(request: Request, options?: { readonly addresses?: readonly string[] }): Promise<Response>;
  /**
   * Every address that a host name resolves to, where the runtime can tell. Without it, names are checked by their text
   * alone; Workers cannot look names up, and their platform refuses private addresses itself.
   */
  lookup?(host: string): Promise<readonly string[]>;
}
