import type { RelayReport } from '../../../functions/relay/relay-pass.ts';
import { relayPass } from '../../../functions/relay/relay-pass.ts';
import type { Sql, SqlRow, SqlValue } from '../../../shared/ports.ts';
import type { PublishedEvent } from '../../../shared/published-event.ts';
import type { PublishOutcome } from '../../../shared/publish/publisher.ts';
import { ManualClock } from './manual-clock.ts';
import { RecordingLog } from './recording-log.ts';

interface Settlement {
  readonly results: readonly { readonly id: string; readonly outcome: string }[];
  readonly more: boolean;
}

/** One pass of the relay over a scripted database and a scripted receiver. Events are named `aggregate/version`. */
export interface ScriptedRelay {
  readonly time: ManualClock;
  readonly log: RecordingLog;
  /** In the order of the calls. */
  readonly sent: string[];
  readonly settlements: Settlement[];
  readonly renewals: number[];
  readonly claims: { readonly claimId: string; readonly leaseSeconds: number }[];
  closed: number;
  publish: (event: PublishedEvent, signal: AbortSignal) => Promise<PublishOutcome>;
  settleAs: 'settled' | 'lease_lost';
  renewAs: () => 'held' | 'lease_lost';
  start(options?: { invocationMs?: number; signal?: AbortSignal }): Promise<RelayReport>;
}

/** @param batches what the claims find, one after another */
export function scriptedRelay(batches: readonly (readonly string[])[]): ScriptedRelay {
  const time = new ManualClock();
  const log = new RecordingLog();
  const waiting = [...batches];
  let ids = 0;
  const relay: ScriptedRelay = {
    time,
    log,
    sent: [],
    settlements: [],
    renewals: [],
    claims: [],
    closed: 0,
    publish: async () => ({ outcome: 'published' }),
    settleAs: 'settled',
    renewAs: () => 'held',
    start: ({ invocationMs = 60_000, signal } = {}) =>
      relayPass(
        {
          sql,
          clock: time,
          timer: time.timer,
          log,
          ids: { uuidv7: () => `id-${(ids += 1)}` },
          publisher: {
            publish: (event, options) => {
              relay.sent.push(event.id);
              return relay.publish(event, options.signal);
            },
            close: async () => {
              relay.closed += 1;
            },
          },
        },
        {
          invocationEndsAt: time.now() + invocationMs,
          maxAttempts: 3,
          ...(signal === undefined ? {} : { signal }),
        },
      ),
  };
  const sql: Sql = {
    query: async <Row extends SqlRow>(text: string, values: readonly SqlValue[]) =>
      answer(text, values) as Row[],
  };
  function answer(text: string, values: readonly SqlValue[]): SqlRow[] {
    if (text.includes('claim_events')) {
      const [, claimId, leaseSeconds] = values;
      relay.claims.push({ claimId: String(claimId), leaseSeconds: Number(leaseSeconds) });
      const batch = waiting.shift() ?? [];
      return batch.map((id) => claimedRow(id, Number(leaseSeconds), waiting.length > 0));
    }
    if (text.includes('renew_shard')) {
      relay.renewals.push(time.now());
      return [{ outcome: relay.renewAs() }];
    }
    const results = JSON.parse(String(values[3])) as Settlement['results'];
    relay.settlements.push({ results, more: values[4] === true });
    const count = (word: string): number =>
      results.filter(({ outcome }) => outcome === word).length;
    return [
      {
        outcome: relay.settleAs,
        published: count('published'),
        failed: count('failed'),
        quarantined: count('rejected'),
      },
    ];
  }
  return relay;
}

function claimedRow(id: string, leaseSeconds: number, more: boolean): SqlRow {
  const [aggregateId, version] = id.split('/');
  return {
    shard: 3,
    fencing_token: '7',
    lease_remaining_ms: String(leaseSeconds * 1000),
    event_id: id,
    aggregate_type: 'order',
    aggregate_id: aggregateId,
    version,
    type: 'order.placed',
    schema_version: 1,
    payload_json: 'null',
    headers: {},
    occurred_at: new Date(0),
    created_at: new Date(0),
    attempt: 1,
    more_due: more,
  };
}
