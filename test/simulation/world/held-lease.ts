import type { ClaimedJob } from '../../../shared/queue/claimed-job.ts';
import type { Actor } from './actor.ts';
import type { QueueName } from './world.ts';

/** A lease in the hands of a process. */
export interface HeldLease {
  readonly jobId: string;
  readonly owner: string;
  readonly fencingToken: string;
  readonly type: string;
  readonly queue: QueueName;
  readonly remainingMs: number;
  /** Its end by the clock of the holder's machine, which may be wrong. */
  readonly until: number;
}

/** The part of a claimed job that its holder keeps. */
export function held(actor: Actor, owner: string, job: ClaimedJob): HeldLease {
  return {
    jobId: job.jobId,
    owner,
    fencingToken: job.fencingToken,
    type: job.type,
    queue: job.queue as QueueName,
    remainingMs: job.leaseRemainingMs,
    until: Math.round(actor.localNow + job.leaseRemainingMs),
  };
}
