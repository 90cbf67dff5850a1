/** What the benches ask of a queue: ours and the peers behind the same few calls, each over its public interface. */
import type { BenchDatabase } from '../bench-database.ts';

export interface JobTimes {
  /** How long the claim took; left out where the system claims for many at once, or together with a completion. */
  readonly claimMs?: number;
  /** Claim and completion together; left out where the system does not wait for the completion. */
  readonly totalMs?: number;
}

export interface WorkOptions {
  /** Jobs in hand at one time, each client with a connection for itself. */
  readonly clients: number;
  /** Ends the work: nobody claims any more, and what is in hand is finished. */
  readonly signal: AbortSignal;
  /** Called after each completion. */
  readonly onJob: (times: JobTimes) => void;
  /** A claim found nothing. */
  readonly onEmpty?: (claimMs: number) => void;
}

export interface FillOptions {
  /** Seconds until they are due; default: due now. */
  readonly delaySeconds?: number;
}

export interface ManyClaimed {
  readonly jobs: number;
  readonly ms: number;
}

export interface QueueSystem {
  /** As in tables and charts. */
  readonly name: string;
  /** Its own; nothing else is in it. */
  readonly database: BenchDatabase;
  /** Adds jobs before a measurement, by the quickest way there is. */
  fill(count: number, options?: FillOptions): Promise<void>;
  /** Due jobs that nobody holds. */
  pending(): Promise<number>;
  /** Claims and completes empty jobs, one a call unless the system was told to batch. */
  work(options: WorkOptions): Promise<void>;
  /** One call that claims up to `count` jobs, and its time; they are completed after it. Left out where no call does so. */
  claimMany?(count: number): Promise<ManyClaimed>;
  /** One call that adds `count` jobs. */
  enqueue(count: number): Promise<void>;
  /** Ends `count` pending jobs at one blow, leaving what a completion leaves: the history of a queue in use. */
  finish?(count: number): Promise<void>;
  /** Adds `count` jobs of one key that cannot run, because somebody holds a job of that key until `close`. */
  blockKey?(count: number): Promise<void>;
  /** `vacuum (analyze)`. */
  settle(): Promise<void>;
  /** Ends its connections and removes its database. */
  close(): Promise<void>;
}

/** A second database of the same system, for a comparison with itself. */
export interface OpenOptions {
  /** Part of the database's name. */
  readonly database?: string;
}
