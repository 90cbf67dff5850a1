import { MAX_LEASE_SECONDS, MIN_LEASE_SECONDS, REPORT_MARGIN_MS } from '../shared/limits.ts';

/**
 * Whether an invocation has time for one more job. A slow body or a database that had to wake up can use up all of it;
 * a job claimed then could be neither run nor sent, and an attempt would be spent on nothing.
 *
 * @param now local milliseconds
 * @param invocationEndsAt local milliseconds at which the platform ends the invocation
 */
export function hasTimeLeft(now: number, invocationEndsAt: number): boolean {
  return invocationEndsAt - now > REPORT_MARGIN_MS;
}

/** The longest lease, in seconds, that ends with the invocation: one that is killed leaves nothing that is held longer. */
export function leaseAtMost(now: number, invocationEndsAt: number): number {
  const secondsLeft = Math.floor((invocationEndsAt - now) / 1000);
  return Math.min(Math.max(secondsLeft, MIN_LEASE_SECONDS), MAX_LEASE_SECONDS);
}

/**
 * Until when an invocation takes jobs behind its first one: for as long as its platform says, half of its time at most, and
 * while the longest run that is declared still fits in. A job that is taken later would be cut off, and spend an attempt on
 * nothing.
 *
 * @param now local milliseconds
 * @param invocationEndsAt local milliseconds at which the platform ends the invocation
 */
export function takesMoreUntil(
  now: number,
  invocationEndsAt: number,
  {
    takesMoreMs = Number.POSITIVE_INFINITY,
    maxRunSeconds = 0,
  }: {
    /** What the platform says. */
    readonly takesMoreMs?: number | undefined;
    /** What the handlers say. */
    readonly maxRunSeconds?: number | undefined;
  },
): number {
  return Math.min(
    now + takesMoreMs,
    now + (invocationEndsAt - now) / 2,
    invocationEndsAt - maxRunSeconds * 1000,
  );
}
