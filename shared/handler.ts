import type { z } from 'zod';

import type { Effect } from './effects.ts';
import type { FieldProblem } from './errors.ts';
import type { JsonObject, JsonValue } from './json-value.ts';
import { problemsOf } from './parse-with.ts';
import type { Clock, Log } from './ports.ts';
import type { Lease } from './queue/lease.ts';

/** What a handler is told about its job. */
export interface HandlerJob<Payload> {
  readonly id: string;
  readonly queue: string;
  readonly type: string;
  readonly payload: Payload;
  /** As enqueued, `traceparent` among them when the producer sent one. */
  readonly headers: JsonObject;
  /** Of the payload, as the producer stated it. */
  readonly schemaVersion: number;
  /** From 1. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly createdAt: Date;
}

/** What a handler may use while it runs. */
export interface HandlerContext {
  /**
   * Fires when the lease is lost, the time is up or the job was called off; its reason is a `JobStopped` that says
   * which. Hand it to every `fetch`; after it fires, effects may be doubled.
   */
  readonly signal: AbortSignal;
  /**
   * Says how far the work is. A marker that differs from the last one is what earns the next lease renewal once the
   * declared step time is over; up to 200 characters are kept and shown, so it must not hold secrets.
   */
  readonly progress: (marker: string | number) => void;
  /** The same on every attempt of this job (its id): give it to services that take an idempotency key. */
  readonly idempotencyKey: string;
  /** Grows with every claim of the job: give it to stores of your own, and let them refuse a smaller one. */
  readonly fencingToken: string;
  readonly attempt: number;
  /** What a person wrote who sent the job back to its queue (docs/escalations.md); null when nobody did. */
  readonly note: string | null;
  /** Names the lease, for completing the job in a transaction of your own (`completeIn`, `completeStatement`). */
  readonly lease: Lease;
  /** Does something outside the database with a record before and after it; see `Effect`. */
  readonly effect: Effect;
  /** The time of this process, for delays and such; tests can hold it. */
  readonly clock: Clock;
  /** Adds the job's id, queue, type and attempt to each line. Do not log payloads. */
  readonly log: Log;
}

export interface HandlerDefinition<Schema extends z.ZodType> {
  /** The queue it serves, 1 to 128 characters. */
  readonly queue: string;
  /** The type of job in that queue, 1 to 128 characters. */
  readonly type: string;
  /** What a payload must be. One that is not makes the job dead at once, with the faults as the reason. */
  readonly schema: Schema;
  /** Payload versions it takes, 1 to 1,000,000 each; default: every one. A job of another version is dead at once. */
  readonly schemaVersions?: readonly number[];
  /** Lease per claim and heartbeat, 1 to 3,600 s; default: the queue's. Cut to the time left in the invocation. */
  readonly leaseSeconds?: number;
  /** Longest time between two progress markers, in seconds; default 60. Past it, the lease is not renewed. */
  readonly stepSeconds?: number;
  /** Longest run of one attempt, in seconds; default and upper bound: the queue's and the platform's limits. */
  readonly maxRunSeconds?: number;
  /**
   * Does the work. What it returns is kept as the job's result if it is JSON of at most 256 KiB. What it throws is
   * kept as the attempt's failure: throw `PermanentError`, `TransientError` or `RetryAfter` to class it, `Snooze` to
   * wait without spending an attempt, `AskPerson` to hand the job to a person. Anything else is of class `unknown` and gets a few attempts.
   */
  run(job: HandlerJob<z.output<Schema>>, context: HandlerContext): unknown;
}

/** A handler with its payload type sealed inside. */
export interface Handler {
  readonly queue: string;
  readonly type: string;
  readonly schemaVersions: readonly number[] | undefined;
  readonly leaseSeconds: number | undefined;
  readonly stepSeconds: number | undefined;
  readonly maxRunSeconds: number | undefined;
  /** Checks a payload; on success gives the run, ready to start. May throw if the schema's own code does. */
  prepare(payload: JsonValue): Promise<PreparedRun>;
}

export type PreparedRun =
  | { readonly ok: true; readonly run: Run }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

export type Run = (
  job: Omit<HandlerJob<unknown>, 'payload'>,
  context: HandlerContext,
) => Promise<unknown>;

/**
 * Makes a handler for one type of job in one queue. Register it in a list given to `handlerRegistry`.
 *
 * @example
 * export const welcome = defineHandler({
 *   queue: 'emails',
 *   type: 'email.welcome',
 *   schema: z.strictObject({ to: z.email() }),
 *   async run(job, { signal, idempotencyKey }) {
 *     await sendMail(job.payload.to, { signal, idempotencyKey });
 *   },
 * });
 */
export function defineHandler<Schema extends z.ZodType>(
  definition: HandlerDefinition<Schema>,
): Handler {
  return {
    queue: definition.queue,
    type: definition.type,
    schemaVersions: definition.schemaVersions,
    leaseSeconds: definition.leaseSeconds,
    stepSeconds: definition.stepSeconds,
    maxRunSeconds: definition.maxRunSeconds,
    async prepare(payload) {
      const parsed = await definition.schema.safeParseAsync(payload);
      if (!parsed.success) return { ok: false, problems: problemsOf(parsed.error) };
      const checked = parsed.data;
      return {
        ok: true,
        run: async (job, context) => definition.run({ ...job, payload: checked }, context),
      };
    },
  };
}
