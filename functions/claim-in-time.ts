import { defined } from '../shared/defined.ts';
import { MAX_LEASE_SECONDS, MIN_LEASE_SECONDS, REPORT_MARGIN_MS } from '../shared/limits.ts';
import { claim } from '../shared/queue/claim.ts';
import type { ClaimedJob } from '../shared/queue/claimed-job.ts';
import type { AppDeps } from './deps.ts';
import { askWake } from './wake/ask-wake.ts';
import type { AskWakeDeps } from './wake/ask-wake.ts';

export interface ClaimInTimeInput {
  readonly queue: string;
  readonly owner: string;
  /** Lease to ask for, 1 to 3,600 s; default: the queue's. */
  readonly leaseSeconds?: number | undefined;
  /** Local milliseconds at which the platform ends this invocation. */
  readonly invocationEndsAt: number;
}

export type ClaimInTimeOutcome =
  | {
      readonly outcome: 'claimed';
      readonly job: ClaimedJob;
      /** Local milliseconds when the claim was sent. */
      readonly claimSentAt: number;
    }
  | { readonly outcome: 'empty' }
  /** So little of the invocation is left that an attempt would be spent on nothing, so nothing was claimed. */
  | { readonly outcome: 'no_time' };

/**
 * Claims one job with a lease that ends within the invocation. A slow body or a database that had to wake up can use up
 * the whole invocation first; a job claimed then could be neither run nor sent, and an attempt would be spent on it.
 *
 * @example const taken = await claimInTime(deps, { queue: 'emails', owner, invocationEndsAt });
 */
export async function claimInTime(
  deps: Pick<AppDeps, 'clock' | 'ids' | 'sql'> & AskWakeDeps,
  { queue, owner, leaseSeconds, invocationEndsAt }: ClaimInTimeInput,
): Promise<ClaimInTimeOutcome> {
  const { clock, ids, sql } = deps;
  const claimSentAt = clock.now();
  const msLeft = invocationEndsAt - claimSentAt;
  if (msLeft <= REPORT_MARGIN_MS) return { outcome: 'no_time' };
  const secondsLeft = Math.floor(msLeft / 1000);
  const claimed = await claim(sql, {
    queue,
    owner,
    claimId: ids.uuidv7(),
    ...defined({ leaseSeconds }),
    leaseAtMost: Math.min(Math.max(secondsLeft, MIN_LEASE_SECONDS), MAX_LEASE_SECONDS),
  });
  if (claimed.outcome === 'empty') return claimed;
  // A function that is killed says nothing: without this, its job would wait for the safety sweep.
  askWake(deps, [claimed.job.leaseExpiresAt]);
  return { ...claimed, claimSentAt };
}
