/** What the benches ask of a queue: ours and the peers behind the same few calls, each over its public interface. */

/** One job, from asking for it to its completion. */
export interface JobTimes {
  /** How long the claim took; left out where the system claims for many at once. */
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
  /** One key that lets one job run at a time. */
  readonly key?: string;
}

export interface QueueSystem {
  /** As in tables and charts. */
  readonly name: string;
  /** Of the package, or `this checkout`. */
  readonly version: string;
  /** Adds jobs before a measurement, by the quickest way there is. */
  fill(count: number, options?: FillOptions): Promise<void>;
  /** Due jobs that nobody holds. */
  pending(): Promise<number>;
  /** Claims and completes empty jobs, one a call unless the system was told to batch. */
  work(options: WorkOptions): Promise<void>;
  /** One call that adds `count` jobs. */
  enqueue(count: number): Promise<void>;
  /** `vacuum (analyze)`. */
  settle(): Promise<void>;
  /** Ends its connections and removes its database. */
  close(): Promise<void>;
}
