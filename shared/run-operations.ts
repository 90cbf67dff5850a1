import type { CompleteInput, CompleteOutcome } from './queue/complete.ts';
import type { FailInput, FailOutcome } from './queue/fail.ts';
import type { HeartbeatInput, HeartbeatOutcome } from './queue/heartbeat.ts';

/** What a run says to the queue. Each call may reject with an unknown outcome and is safe to repeat. */
export interface RunOperations {
  heartbeat(input: HeartbeatInput, options?: { signal?: AbortSignal }): Promise<HeartbeatOutcome>;
  complete(input: CompleteInput, options?: { signal?: AbortSignal }): Promise<CompleteOutcome>;
  fail(input: FailInput, options?: { signal?: AbortSignal }): Promise<FailOutcome>;
}
