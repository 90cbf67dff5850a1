import { defined } from '../shared/defined.ts';
import { claim } from '../shared/queue/claim.ts';
import type { ClaimedJob } from '../shared/queue/claimed-job.ts';
import { tracedClaim } from './claim-span.ts';
import type { AppDeps } from './deps.ts';
import { askWake } from './wake/ask-wake.ts';
import type { AskWakeDeps } from './wake/ask-wake.ts';
import { hasTimeLeft, leaseAtMost } from './time-left.ts';

export interface ClaimInTimeInput {
  readonly queue: string;
  readonly owner: string;
  /** Lease to ask for, 1 to 3,600 s; default: the queue's. */
  readonly leaseSeconds?: number | undefined;
  /** Local milliseconds at which the platform ends this invocation. */
  readonly invocationEndsAt: number;
}

export interface TakenJob {
  readonly job: ClaimedJob;
  /** Local milliseconds when the claim was sent. */
  readonly claimSentAt: number;
}

export type ClaimInTimeOutcome =
  | ({ readonly outcome: 'claimed' } & TakenJob)
  | { readonly outcome: 'empty' }
  /** So little of the invocation is left that an attempt would be spent on nothing, so nothing was claimed. */
  | { readonly outcome: 'no_time' };

/**
 * Claims one job with a lease that ends within the invocation.
 *
 * @example const taken = await claimInTime(deps, { queue: 'emails', owner, invocationEndsAt });
 */
export async function claimInTime(
  deps: Pick<AppDeps, 'clock' | 'ids' | 'sql' | 'feed' | 'tracer' | 'trace'> & AskWakeDeps,
  { queue, owner, leaseSeconds, invocationEndsAt }: ClaimInTimeInput,
): Promise<ClaimInTimeOutcome> {
  const { clock, ids, sql } = deps;
  const claimSentAt = clock.now();
  if (!hasTimeLeft(claimSentAt, invocationEndsAt)) return { outcome: 'no_time' };
  const claimed = await tracedClaim(
    deps,
    [queue],
    () =>
      claim(sql, {
        queue,
        owner,
        claimId: ids.uuidv7(),
        ...defined({ leaseSeconds }),
        leaseAtMost: leaseAtMost(claimSentAt, invocationEndsAt),
      }),
    (taken) => (taken.outcome === 'empty' ? [] : [taken.job]),
  );
  if (claimed.outcome === 'empty') return claimed;
  deps.feed.changed();
  // A function that is killed says nothing: without this, its job would wait for the safety sweep.
  askWake(deps, [claimed.job.leaseExpiresAt]);
  return { ...claimed, claimSentAt };
}
