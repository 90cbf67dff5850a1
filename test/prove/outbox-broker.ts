import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AckPolicy, jetstreamManager } from '@nats-io/jetstream';
import { nanos } from '@nats-io/nats-core';
import { connect } from '@nats-io/transport-node';
import type pg from 'pg';
import {
  NO_NATS_SERVER,
  natsServerBinary,
  startNatsServer,
} from '../../infra/local/nats-server.ts';
import { RELAY_BATCH_EVENTS } from '../../shared/limits.ts';
import type { Experiment, Lab } from './experiment.ts';
import { appendEvents } from './outbox-broker/append-events.ts';
import { consumeStream, type Seen } from './outbox-broker/consume-stream.ts';
import { startRelays } from './outbox-broker/killed-relays.ts';

const RELAYS = 4;
const STREAM = 'EVENTS';
const PREFIX = 'events';
/** As good as none: repeats are to reach the consumer. */
const DUPLICATE_WINDOW_MS = 100;
/** So that a few kills find a relay at work. */
const SLOW_BROKER_MS = 30;
const ACKNOWLEDGE_WITHIN_MS = 5 * 60_000;
const LOOK_EVERY_MS = 500;
const GIVE_UP_AFTER_MS = 20 * 60_000;

export const outboxBroker: Experiment = {
  name: 'outbox-broker',
  summary:
    '50,000 events of 500 aggregates over NATS, 4 relays, one killed every 3 s: all delivered, in order, one effect each (S4); --short: 2,000',
  run: async (lab) => {
    if (natsServerBinary() === undefined) return [NO_NATS_SERVER];
    const folder = mkdtempSync(join(tmpdir(), 'leasehold-outbox-broker-'));
    const broker = await startNatsServer({ folder });
    try {
      return await prove(lab, broker.address);
    } finally {
      await broker.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function prove(lab: Lab, address: string): Promise<readonly string[]> {
  const { pool, short, print } = lab;
  const size = short
    ? { events: 2000, aggregates: 40, killEveryMs: 800, maxKills: 8, delayMs: SLOW_BROKER_MS }
    : { events: 50_000, aggregates: 500, killEveryMs: 3000, maxKills: Infinity, delayMs: 0 };
  await pool.query(
    'create table effects (at bigint generated always as identity, aggregate text, version bigint)',
  );
  const connection = await connect({ servers: address });
  const manager = await jetstreamManager(connection);
  await manager.streams.add({
    name: STREAM,
    subjects: [`${PREFIX}.>`],
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
  });
  await manager.consumers.add(STREAM, {
    durable_name: 'ledger',
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(ACKNOWLEDGE_WITHIN_MS),
    max_ack_pending: 1000,
  });

  const seen: Seen = { messages: 0, outOfOrder: 0, gaps: 0, repeated: new Set(), ids: new Set() };
  const ending = new AbortController();
  const consuming = consumeStream({
    connection,
    pool,
    stream: STREAM,
    signal: ending.signal,
    seen,
  });
  const startedAt = performance.now();
  const relays = startRelays({
    relays: RELAYS,
    ...size,
    args: [pool.options.connectionString ?? '', address, PREFIX, String(size.delayMs)],
  });
  try {
    await appendEvents(pool, size);
    await untilPublished(lab, { events: size.events, seen, calm: () => relays.calm() });
  } finally {
    await relays.stop();
  }
  const { state } = await manager.streams.info(STREAM);
  while (seen.messages < state.messages) await pause(LOOK_EVERY_MS / 10);
  ending.abort();
  await consuming;
  const seconds = (performance.now() - startedAt) / 1000;
  await connection.close();

  const found = await effects(pool);
  const facts: Record<string, number> = {
    'events appended': found.appended,
    'relays killed': relays.kills,
    'messages in the stream': state.messages,
    'events published more than once': seen.repeated.size,
    'events never delivered': size.events - seen.ids.size,
    'first deliveries out of order': seen.outOfOrder,
    'gaps at the strict consumer': seen.gaps,
    effects: found.effects,
    'effects applied twice': found.twice,
    'effects out of order': found.outOfOrder,
    'duplicates counted by the inbox': found.duplicates,
  };
  for (const [what, count] of Object.entries(facts))
    print(`  ${String(count).padStart(8)}  ${what}`);
  print(`  ${Math.round(size.events / seconds)} events a second, in ${Math.round(seconds)} s`);
  const expected: Record<string, number> = {
    'events appended': size.events,
    effects: size.events,
    'events never delivered': 0,
    'first deliveries out of order': 0,
    'gaps at the strict consumer': 0,
    'effects applied twice': 0,
    'effects out of order': 0,
    'duplicates counted by the inbox': state.messages - size.events,
  };
  const faults = Object.entries(expected)
    .filter(([what, count]) => facts[what] !== count)
    .map(([what, count]) => `${what}: ${facts[what]}, expected ${count}`);
  if (seen.repeated.size === 0)
    faults.push('no kill made an event go out twice: nothing is proved');
  // What a killed relay may repeat is the batch that it had not marked (case R16).
  if (state.messages - size.events > relays.kills * RELAY_BATCH_EVENTS) {
    faults.push('more repeats than one batch a killed relay');
  }
  return faults;
}

/** Kills go on until all events are out for the first time; the leases that the dead hold then run out. */
async function untilPublished(
  { pool, progress }: Lab,
  wait: { readonly events: number; readonly seen: Seen; readonly calm: () => void },
): Promise<void> {
  const giveUpAt = Date.now() + GIVE_UP_AFTER_MS;
  while (Date.now() < giveUpAt) {
    const { rows } = await pool.query<{ pending: number }>(
      'select count(*)::int as pending from leasehold.outbox_pending',
    );
    const pending = rows[0]?.pending ?? 0;
    progress(`${wait.seen.ids.size} of ${wait.events} delivered, ${pending} to be published`);
    if (pending === 0) return;
    if (pending < wait.events / 50) wait.calm();
    await pause(LOOK_EVERY_MS);
  }
}

async function effects(pool: pg.Pool): Promise<{
  readonly appended: number;
  readonly effects: number;
  readonly twice: number;
  readonly outOfOrder: number;
  readonly duplicates: number;
}> {
  const { rows } = await pool.query<Record<string, number>>(
    `select
       (select count(*)::int from leasehold.outbox_events) as appended,
       (select count(*)::int from effects) as effects,
       (select (count(*) - count(distinct (aggregate, version)))::int from effects) as twice,
       (select count(*)::int from (
         select version - lag(version, 1, 0::bigint) over (partition by aggregate order by at) as step from effects
       ) steps where step <> 1) as out_of_order,
       (select coalesce(sum(duplicates), 0)::int from leasehold.inbox_events) as duplicates`,
  );
  const [row] = rows;
  return {
    appended: row?.['appended'] ?? -1,
    effects: row?.['effects'] ?? -1,
    twice: row?.['twice'] ?? -1,
    outOfOrder: row?.['out_of_order'] ?? -1,
    duplicates: row?.['duplicates'] ?? -1,
  };
}
