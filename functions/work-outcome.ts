import type { PushOutcome } from '../shared/push/push-job.ts';
import type { ClaimedJob } from '../shared/queue/claimed-job.ts';

/** What one poke came to. */
export type WorkOutcome =
  /** This deployment has no handler for the queue, so nothing was claimed: whoever has one may still do it. */
  | { readonly outcome: 'no_handler' }
  /** The queue's jobs are pushed, and this deployment has no key to sign them with; nothing was claimed. */
  | { readonly outcome: 'push_not_configured' }
  | { readonly outcome: 'empty' }
  /** So little of the invocation is left that an attempt would be spent on nothing, so nothing was claimed. */
  | { readonly outcome: 'no_time' }
  | WorkDone;

/** At least one job was claimed; the last of them is told of. */
export interface WorkDone {
  readonly outcome: 'ran';
  readonly job: ClaimedJob;
  readonly run: PushOutcome;
  readonly moreDue: boolean;
  /** Jobs that were run or pushed, the last one among them. */
  readonly jobsRun: number;
  /** Jobs that no handler here can run: each is dead. */
  readonly jobsBuried: number;
}

/** What one job came to. A run that ended without an answer knows no better than the claim did. */
export function ran(
  job: ClaimedJob,
  run: PushOutcome,
): Pick<WorkDone, 'outcome' | 'job' | 'run' | 'moreDue'> {
  const moreDue = 'moreDue' in run ? run.moreDue : undefined;
  return { outcome: 'ran', job, run, moreDue: moreDue ?? job.moreDue };
}
