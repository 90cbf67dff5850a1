import type { Log } from './ports.ts';
import type { CompleteAndClaimOutcome } from './queue/complete-and-claim.ts';
import type { CompleteInput } from './queue/complete.ts';
import { isRefusal } from './refusal.ts';
import type { RunOperations } from './run-operations.ts';

export interface ClaimNextInput<Next> {
  readonly operations: RunOperations;
  readonly log: Log;
  /** Whether another job is wanted: asked once, when the success is first reported. */
  readonly wanted: () => boolean;
  /** Reports the success and claims in one call. Each call of one run names the same claim. */
  readonly completeAndClaim: (
    input: CompleteInput,
    options?: { signal?: AbortSignal },
  ) => Promise<CompleteAndClaimOutcome<Next>>;
}

export interface ClaimNext<Next> {
  /** For one run: its report of success claims too. */
  readonly operations: RunOperations;
  /** What that claim took; the run, whatever it came to, has nothing to do with this job. */
  taken(): Next | undefined;
}

/**
 * Lets one run report its success and take the next job in the same call. The run does not know: a success is reported,
 * repeated and answered as ever, and any other ending claims nothing.
 *
 * A repeat stays fused once the first try was, since that one may have claimed. A fused report that is refused has done
 * nothing, so the success is then told alone: it counts, whatever is wrong with the claim.
 *
 * @example
 * const fused = claimNext({ operations, log, wanted: () => true, completeAndClaim });
 * const end = await runJob({ ...deps, operations: fused.operations }, input);
 * const next = fused.taken();
 */
export function claimNext<Next>(input: ClaimNextInput<Next>): ClaimNext<Next> {
  const { operations, log } = input;
  let fused: boolean | undefined;
  let next: Next | undefined;
  return {
    operations: {
      ...operations,
      complete: async (report, options) => {
        fused ??= input.wanted();
        if (!fused) return await operations.complete(report, options);
        try {
          const done = await input.completeAndClaim(report, options);
          if (done.outcome !== 'lease_lost') next = done.next;
          return done;
        } catch (error) {
          if (!isRefusal(error)) throw error;
          log.warn('claim_next_refused');
          fused = false;
          return await operations.complete(report, options);
        }
      },
    },
    taken: () => next,
  };
}
