import { pushJob } from '../shared/push/push-job.ts';
import { POKE_LOST_MS } from '../shared/limits.ts';
import { recordPush } from '../shared/queue/record-push.ts';
import { askDrain } from './wake/ask-drain.ts';
import { askWake } from './wake/ask-wake.ts';
import { claimInTime } from './claim-in-time.ts';
import type { AppDeps } from './deps.ts';
import { runOperationsOver } from './run-operations-over.ts';
import { ran } from './work-outcome.ts';
import type { WorkOutcome } from './work-outcome.ts';

const PUSH_OWNER = 'push/';

export interface PushInput {
  readonly queue: string;
  readonly targetUrl: string;
  /** The queue's. */
  readonly leaseSeconds: number;
  /** Local milliseconds at which the platform ends this invocation. */
  readonly invocationEndsAt: number;
}

/**
 * Claims one job of a queue whose jobs are pushed, and sends it. The lease belongs to `push/<queue>`: a receiver that
 * takes a job over reports it with a token whose subject is that name, and no header or body can make it another.
 */
export async function pushOnce(deps: AppDeps, input: PushInput): Promise<WorkOutcome> {
  const { config, sql } = deps;
  if (config.pushSecrets.length === 0) {
    deps.log.error('push_not_configured', { queue: input.queue });
    return { outcome: 'push_not_configured' };
  }
  const owner = pushOwner(input.queue);
  const claimed = await claimInTime(deps, {
    queue: input.queue,
    owner,
    invocationEndsAt: input.invocationEndsAt,
  });
  if (claimed.outcome !== 'claimed') return claimed;
  const run = await pushJob(
    {
      ...deps,
      operations: runOperationsOver(deps),
      recordPush: async (ok) => {
        const { resumeAt } = await recordPush(sql, { queue: input.queue, ok });
        if (resumeAt !== null) deps.feed.changed();
        if (resumeAt !== null) askWake(deps, [resumeAt]);
        // Nothing pokes on after a target that gave no answer.
        else if (!ok) askDrain(deps, POKE_LOST_MS);
      },
      keys: config.pushSecrets,
      policy: config.pushTargets,
    },
    { ...input, job: claimed.job, owner, claimSentAt: claimed.claimSentAt },
  );
  return { ...ran(claimed.job, run), jobsRun: 1, jobsBuried: 0 };
}

/** The other way round; undefined for whoever is no receiver of pushes. */
export function queueOfPushOwner(owner: string): string | undefined {
  return owner.startsWith(PUSH_OWNER) ? owner.slice(PUSH_OWNER.length) : undefined;
}

/** Who holds the leases of pushed jobs: the subject of the token that their receiver reports with. */
export function pushOwner(queue: string): string {
  return `${PUSH_OWNER}${queue}`;
}
