import type { Sql, SqlOptions } from '../ports.ts';
import type { PublishedEvent } from '../published-event.ts';
import { EVENT_COLUMNS, eventOf } from './event-row.ts';
import type { EventRow } from './event-row.ts';

export interface ClaimEventsInput {
  /** The relay, 1 to 200 characters. */
  readonly owner: string;
  /**
   * A UUID of the caller's, new for each claim. Repeated after a lost answer, and for the next batch of a lease that was
   * kept, it gives what is still to be published of the same shard.
   */
  readonly claimId: string;
  /** 1 to 3,600. */
  readonly leaseSeconds: number;
  /** 1 to 500 events. */
  readonly limit: number;
}

/** A lease on one shard of the outbox. */
export interface ShardLease {
  readonly shard: number;
  readonly owner: string;
  /** Grows with every claim of the shard; a 64-bit number as text. */
  readonly fencingToken: string;
}

/** What can be published of one shard now: at least one event. */
export interface ClaimedEvents {
  readonly lease: ShardLease;
  /** Left when the database answered. */
  readonly leaseRemainingMs: number;
  /** Events of one aggregate in the order of their versions. */
  readonly events: readonly PublishedEvent[];
  /** Whether the shard has more behind these. */
  readonly moreDue: boolean;
}

/**
 * Leases one shard of the outbox and gives its next events, in the order to publish them; or finds nothing to do.
 *
 * @returns undefined when nothing can be published now, or other relays are at it; nothing is leased then
 * @throws {LeaseholdError} `invalid_request` naming the field
 * @example const batch = await claimEvents(sql, { owner: 'relay-1', claimId: ids.uuidv7(), leaseSeconds: 30, limit: 100 });
 */
export async function claimEvents(
  sql: Sql,
  input: ClaimEventsInput,
  options?: SqlOptions,
): Promise<ClaimedEvents | undefined> {
  const rows = await sql.query<ClaimedRow>(
    `select shard, fencing_token, lease_remaining_ms, ${EVENT_COLUMNS}, attempt, more_due
     from leasehold.claim_events($1::text, $2::uuid, $3::int, $4::int)`,
    [input.owner, input.claimId, input.leaseSeconds, input.limit],
    options,
  );
  const [first] = rows;
  if (first === undefined) return undefined;
  return {
    lease: { shard: first.shard, owner: input.owner, fencingToken: first.fencing_token },
    leaseRemainingMs: Number(first.lease_remaining_ms),
    events: rows.map(claimedEvent),
    moreDue: first.more_due,
  };
}

type ClaimedRow = EventRow & {
  shard: number;
  fencing_token: string;
  lease_remaining_ms: string;
  attempt: number;
  more_due: boolean;
};

function claimedEvent(row: ClaimedRow): PublishedEvent {
  return {
    ...eventOf(row),
    payloadJson: row.payload_json ?? undefined,
    occurredAt: row.occurred_at.toISOString(),
    createdAt: row.created_at.toISOString(),
    attempt: row.attempt,
  };
}
