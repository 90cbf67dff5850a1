import {
  MAX_RELAY_MS,
  RELAY_BATCH_EVENTS,
  RELAY_BATCH_MS,
  RELAY_LEASE_SECONDS,
  REPORT_MARGIN_MS,
} from '../../shared/limits.ts';
import { LocalLease } from '../../shared/local-lease.ts';
import { claimEvents } from '../../shared/outbox/claim-events.ts';
import type { ClaimedEvents } from '../../shared/outbox/claim-events.ts';
import { settleEvents } from '../../shared/outbox/settle-events.ts';
import type { PublishResult } from '../../shared/outbox/settle-events.ts';
import type { Clock, Ids, Log, Sql, Timer } from '../../shared/ports.ts';
import type { Publisher } from '../../shared/publish/publisher.ts';
import { hasTimeLeft, leaseAtMost } from '../time-left.ts';
import { keepShard } from './keep-shard.ts';
import { publishBatch } from './publish-batch.ts';
import { ReceiverState } from './receiver-state.ts';

export interface RelayPassDeps {
  readonly sql: Sql;
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly ids: Ids;
  readonly log: Log;
}

export interface RelayPassInput {
  /** Local milliseconds at which the platform ends the invocation. */
  readonly invocationEndsAt: number;
  /** Tries of one event before it is quarantined. */
  readonly maxAttempts: number;
  /** Stops the pass; what is under way is not waited for. */
  readonly signal?: AbortSignal;
}

/** What one pass did. */
export interface RelayReport {
  readonly batches: number;
  readonly published: number;
  readonly failed: number;
  readonly quarantined: number;
  /** Why it ended: nothing left to publish now; its time; the receiver is away; another relay took a shard over. */
  readonly ended: 'empty' | 'time_up' | 'receiver_away' | 'lease_lost';
}

/**
 * One bounded pass of the relay: leases a shard of the outbox, publishes its events in order for each aggregate, marks them,
 * and goes on while there are more and time is left. Passes may run side by side; they share the shards.
 *
 * At least once: between the receiver's acknowledgement and the mark a crash makes an event go out again, with the same id.
 * What a crash repeats is at most one batch, and a batch ends after 5 seconds.
 *
 * @throws {LeaseholdError} when the database does not answer; what was published and not marked goes out again
 */
export async function relayPass(deps: RelayPassDeps, input: RelayPassInput): Promise<RelayReport> {
  try {
    return await publishAll(deps, input);
  } finally {
    await deps.publisher.close?.();
  }
}

async function publishAll(deps: RelayPassDeps, input: RelayPassInput): Promise<RelayReport> {
  const { sql, clock, ids, log } = deps;
  const startedAt = clock.now();
  const owner = `relay-${ids.uuidv7()}`;
  const receiver = new ReceiverState();
  const done = { batches: 0, published: 0, failed: 0, quarantined: 0 };
  let ended: RelayReport['ended'] | undefined;
  let claimId = ids.uuidv7();
  while (ended === undefined) {
    if (!mayGoOn(deps, input, startedAt)) {
      ended = 'time_up';
      break;
    }
    const claimSentAt = clock.now();
    const leaseSeconds = Math.min(
      RELAY_LEASE_SECONDS,
      leaseAtMost(claimSentAt, input.invocationEndsAt),
    );
    const batch = await claimEvents(sql, {
      owner,
      claimId,
      leaseSeconds,
      limit: RELAY_BATCH_EVENTS,
    });
    if (batch === undefined) {
      ended = 'empty';
      break;
    }
    const results = await publish(deps, input, { batch, receiver, claimSentAt, leaseSeconds });
    const more = batch.moreDue && !receiver.isAway && mayGoOn(deps, input, startedAt);
    const settled = await settleEvents(sql, {
      lease: batch.lease,
      results,
      more,
      leaseSeconds,
      maxAttempts: input.maxAttempts,
    });
    done.batches += 1;
    if (settled.outcome === 'lease_lost') {
      log.warn('shard_lease_lost', { shard: batch.lease.shard, sent: results.length });
      ended = 'lease_lost';
      break;
    }
    done.published += settled.published;
    done.failed += settled.failed;
    done.quarantined += settled.quarantined;
    if (receiver.isAway) ended = 'receiver_away';
    if (!more) claimId = ids.uuidv7();
  }
  if (done.batches > 0) {
    log.info('relayed', { ...done, ended, duration_ms: clock.now() - startedAt });
  }
  return { ...done, ended };
}

function mayGoOn(
  { clock }: RelayPassDeps,
  { signal, invocationEndsAt }: RelayPassInput,
  startedAt: number,
): boolean {
  const now = clock.now();
  return (
    signal?.aborted !== true && now - startedAt < MAX_RELAY_MS && hasTimeLeft(now, invocationEndsAt)
  );
}

interface BatchUnderLease {
  readonly batch: ClaimedEvents;
  readonly receiver: ReceiverState;
  readonly claimSentAt: number;
  readonly leaseSeconds: number;
}

/** Publishes under the lease: ends when all is out, or as soon as the lease or the time is. */
async function publish(
  deps: RelayPassDeps,
  input: RelayPassInput,
  { batch, receiver, claimSentAt, leaseSeconds }: BatchUnderLease,
): Promise<PublishResult[]> {
  const { clock, log } = deps;
  const stop = new AbortController();
  const ended = new AbortController();
  const end = (): void => stop.abort();
  input.signal?.addEventListener('abort', end, { once: true });
  if (input.signal?.aborted === true) end();
  const keeping = keepShard(
    {
      ...deps,
      lease: batch.lease,
      local: new LocalLease(claimSentAt, batch.leaseRemainingMs),
      leaseSeconds,
      deadlineAt: input.invocationEndsAt - REPORT_MARGIN_MS,
    },
    ended.signal,
  ).then((why) => {
    if (why === undefined) return;
    log.warn('relay_stopped', { shard: batch.lease.shard, reason: why });
    stop.abort();
  });
  try {
    return await publishBatch(deps, {
      events: batch.events,
      receiver,
      startUntil: clock.now() + RELAY_BATCH_MS,
      signal: stop.signal,
    });
  } finally {
    ended.abort();
    input.signal?.removeEventListener('abort', end);
    await keeping;
  }
}
