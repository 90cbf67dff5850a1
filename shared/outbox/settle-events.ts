import type { Sql, SqlOptions } from '../ports.ts';
import type { ShardLease } from './claim-events.ts';

/** What became of one event. */
export type PublishResult =
  | { readonly id: string; readonly outcome: 'published' }
  | {
      readonly id: string;
      /** `rejected`: no retry can help, so it is quarantined at once. */
      readonly outcome: 'failed' | 'rejected';
      /** As claimed: a failure counts once, however often it is told. */
      readonly attempt: number;
      readonly error: { readonly code: string; readonly message: string };
      /** The receiver as a whole could not be reached, so the event is no poison. */
      readonly away?: boolean;
      /** The receiver's wish, up to a day. */
      readonly retryAfterMs?: number;
    };

export interface SettleEventsInput {
  readonly lease: ShardLease;
  /** Up to 500; events that are left out stay to be published. */
  readonly results: readonly PublishResult[];
  /** Whether to keep the lease for a next batch, renewed; else it ends. */
  readonly more: boolean;
  /** 1 to 3,600. */
  readonly leaseSeconds: number;
  /** Tries of one event before it is quarantined, 1 to 100. */
  readonly maxAttempts: number;
}

export type SettleEventsOutcome =
  | {
      readonly outcome: 'settled';
      /** Now: a repeat counts what the first call left. */
      readonly published: number;
      readonly failed: number;
      readonly quarantined: number;
    }
  /** Another relay has the shard. Nothing changed; what was sent goes out again under the same ids. */
  | { readonly outcome: 'lease_lost' };

/**
 * Tells what became of claimed events: what is published is done, a failure holds back its own aggregate and is tried
 * again after a delay, or quarantined. Safe to repeat.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field
 * @example await settleEvents(sql, { lease, results: [{ id, outcome: 'published' }], more: false, leaseSeconds: 30, maxAttempts: 10 });
 */
export async function settleEvents(
  sql: Sql,
  input: SettleEventsInput,
  options?: SqlOptions,
): Promise<SettleEventsOutcome> {
  const { lease } = input;
  const results = input.results.map((result) =>
    result.outcome === 'published'
      ? result
      : {
          id: result.id,
          outcome: result.outcome,
          attempt: result.attempt,
          error: result.error,
          away: result.away,
          retry_after_ms: result.retryAfterMs,
        },
  );
  const [row] = await sql.query<SettledRow>(
    `select outcome, published, failed, quarantined
     from leasehold.settle_events($1::smallint, $2::text, $3::bigint, $4::jsonb, $5::boolean, $6::int, $7::int)`,
    [
      lease.shard,
      lease.owner,
      lease.fencingToken,
      JSON.stringify(results),
      input.more,
      input.leaseSeconds,
      input.maxAttempts,
    ],
    options,
  );
  if (row === undefined || row.outcome === 'lease_lost') return { outcome: 'lease_lost' };
  return {
    outcome: 'settled',
    published: row.published,
    failed: row.failed,
    quarantined: row.quarantined,
  };
}

type SettledRow = {
  outcome: 'settled' | 'lease_lost';
  published: number;
  failed: number;
  quarantined: number;
};
