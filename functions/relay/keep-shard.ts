import { pause, waitAtMost } from '../../shared/bounded-wait.ts';
import { REPORT_RETRY_MS } from '../../shared/limits.ts';
import type { LocalLease } from '../../shared/local-lease.ts';
import type { ShardLease } from '../../shared/outbox/claim-events.ts';
import { renewShard } from '../../shared/outbox/renew-shard.ts';
import type { Clock, Log, Sql, Timer } from '../../shared/ports.ts';

export interface KeepShardInput {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly log: Log;
  readonly lease: ShardLease;
  readonly local: LocalLease;
  /** Seconds to ask for at a renewal. */
  readonly leaseSeconds: number;
  /** Local milliseconds at which publishing must be over, whatever the lease says. */
  readonly deadlineAt: number;
}

/**
 * Keeps the lease of a shard while its events are published: a renewal at each third. One that is answered with
 * `lease_lost` ends it at once; one that fails says nothing, so publishing goes on until the local copy of the expiry.
 *
 * @param ended fires when the batch is out and there is nothing left to keep
 * @returns why to stop, or undefined when `ended` fired first
 */
export async function keepShard(
  input: KeepShardInput,
  ended: AbortSignal,
): Promise<'lease_lost' | 'lease_expired' | 'time_up' | undefined> {
  const { clock, timer, local, log, lease } = input;
  let renewAt = local.nextBeatAt;
  while (!ended.aborted) {
    const wakeAt = Math.min(renewAt, local.stopAt, input.deadlineAt);
    if (!(await pause(timer, wakeAt - clock.now(), ended))) return undefined;
    const now = clock.now();
    if (now >= input.deadlineAt) return 'time_up';
    if (now >= local.stopAt) return 'lease_expired';
    if (now < renewAt) continue;
    const answer = await waitAtMost(
      timer,
      Math.min(local.stopAt, input.deadlineAt) - now,
      (signal) => renewShard(input.sql, { lease, leaseSeconds: input.leaseSeconds }, { signal }),
      ended,
    );
    if (answer.kind === 'aborted') return undefined;
    if (answer.kind === 'value') {
      if (answer.value === 'lease_lost') return 'lease_lost';
      local.renew(now, input.leaseSeconds * 1000);
      renewAt = local.nextBeatAt;
    } else {
      log.warn('shard_renewal_failed', { shard: lease.shard });
      renewAt = clock.now() + REPORT_RETRY_MS;
    }
  }
  return undefined;
}
