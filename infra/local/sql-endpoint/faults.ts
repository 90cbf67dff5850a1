/** What can go wrong between a function and its database, on purpose. */
export type Fault =
  /** The connection drops and nothing was executed. */
  | { readonly kind: 'drop_before' }
  /** Everything is executed and committed, then the connection drops: a lost answer. */
  | { readonly kind: 'drop_after_commit' }
  /** Executed after a pause, as on a database that has to wake; not at all if the client goes meanwhile. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Answered with this status and body; nothing is executed. */
  | { readonly kind: 'status'; readonly status: number; readonly body?: string }
  /** Executed and committed, then the answer breaks off in the middle of its body. */
  | { readonly kind: 'truncate' }
  /** Answered as a Postgres error with this SQLSTATE; nothing is executed. */
  | { readonly kind: 'sql_error'; readonly code: string; readonly message?: string };

export interface FaultOptions {
  /** Only requests with a statement that matches; any request when left out. */
  readonly match?: RegExp;
  /** How many requests are hit; 1 when left out. */
  readonly times?: number;
}

export interface ArmedFault {
  /** Resolves when the fault first hits a request. */
  readonly fired: Promise<void>;
}

/**
 * Faults for the requests to come. The oldest one that matches is used up first.
 *
 * @example
 * const { fired } = endpoint.faults.next({ kind: 'drop_after_commit' }, { match: /leasehold\.claim/ });
 */
export interface FaultSwitch {
  next(fault: Fault, options?: FaultOptions): ArmedFault;
  /** Forgets all faults that have not hit yet. */
  clear(): void;
}

export interface FaultQueue extends FaultSwitch {
  /** The fault for a request with these statements, used up by asking. */
  take(statements: readonly string[]): Fault | undefined;
}

export function createFaultQueue(): FaultQueue {
  interface Armed {
    readonly fault: Fault;
    readonly match: RegExp | undefined;
    left: number;
    readonly fire: () => void;
  }
  let armed: Armed[] = [];
  return {
    next: (fault, { match, times = 1 } = {}) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      armed.push({ fault, match, left: times, fire: resolve });
      return { fired: promise };
    },
    clear: () => {
      armed = [];
    },
    take: (statements) => {
      const hit = armed.find(
        ({ match }) => match === undefined || statements.some((text) => text.search(match) >= 0),
      );
      if (hit === undefined) return undefined;
      hit.left -= 1;
      if (hit.left <= 0) armed = armed.filter((other) => other !== hit);
      hit.fire();
      return hit.fault;
    },
  };
}
