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

const NOTHING_TAKEN: readonly unknown[] = ['no_handler', 'push_not_configured', 'empty', 'no_time'];

/** Whether the answer to a poke, as JSON text, says that no job was taken. */
export function tookNothing(answer: string): boolean {
  try {
    const { outcome } = JSON.parse(answer) as { readonly outcome?: unknown };
    return NOTHING_TAKEN.includes(outcome);
  } catch {
    return false;
  }
}

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
  /** When jobs that were given back are due again, the last one's among them. */
  readonly dueAts: readonly Date[];
  /** Whether one of the jobs had an ordering key: the next of that key may be due at a time that nobody was told. */
  readonly keyed: boolean;
  /** Whether nothing could be claimed though work had been due: the database knows until when. */
  readonly heldBack?: boolean;
}

/**
 * What one job came to, behind what came before it. A run that ended without an answer knows no better than the claim did.
 */
export function ran(
  job: ClaimedJob,
  run: PushOutcome,
  before?: Pick<WorkDone, 'dueAts' | 'keyed'>,
): Omit<WorkDone, 'jobsRun' | 'jobsBuried'> {
  const moreDue = 'moreDue' in run ? run.moreDue : undefined;
  return {
    outcome: 'ran',
    job,
    run,
    moreDue: moreDue ?? job.moreDue,
    dueAts: [...(before?.dueAts ?? []), ...('dueAt' in run ? [run.dueAt] : [])],
    keyed: before?.keyed === true || job.orderingKey !== null,
  };
}
