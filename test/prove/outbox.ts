import { setTimeout as pause } from 'node:timers/promises';
import { RELAY_BATCH_EVENTS } from '../../shared/limits.ts';
import { appendMany, clearOutbox, pendingCount, relay } from '../outbox/support/outbox.ts';
import { batchCost, fillPublished } from '../outbox/support/relay-cost.ts';
import { relayRace } from '../outbox/support/relay-race.ts';
import { scriptedPublisher } from '../outbox/support/scripted-publisher.ts';
import { startReceiver } from '../push/support/receiver.ts';
import { PUSH_KEY } from '../push/support/scripted-push.ts';
import { createHttpSql } from '../support/http-sql.ts';
import type { Experiment, Lab } from './experiment.ts';

/** Published events that a batch is measured with: few, and many. */
const FEW = 1000;
const MANY = 5_000_000;
const MANY_SHORT = 200_000;
const BATCH = { events: 100, aggregates: 20 };
/** A look-up by key goes through one more page a level of its index. */
const LEVELS = 2;

/** How many events a second one relay brings out of a backlog, when the receiver takes no time. */
async function recoveryRate({ pool, sql, short }: Lab): Promise<number> {
  const aggregates = short ? 10 : 40;
  for (let i = 0; i < aggregates; i += 1) await appendMany(pool, `backlog ${i}`, 250);
  const publisher = scriptedPublisher();
  const startedAt = Date.now();
  while ((await relay(sql, publisher)).batches > 0);
  return (publisher.published.length * 1000) / (Date.now() - startedAt);
}

async function cost(lab: Lab): Promise<string[]> {
  const { pool, short, print, progress } = lab;
  const many = short ? MANY_SHORT : MANY;
  const client = await pool.connect();
  try {
    await fillPublished(pool, FEW);
    const before = await batchCost(client, BATCH);
    const rateBefore = await recoveryRate(lab);
    for (let filled = FEW; filled < many;) {
      const step = Math.min(500_000, many - filled);
      progress(`${filled} published events`);
      await fillPublished(pool, step);
      filled += step;
    }
    await pool.query('vacuum analyze leasehold.outbox_events, leasehold.outbox_published');
    const after = await batchCost(client, BATCH);
    const rateAfter = await recoveryRate(lab);
    for (const [published, one, rate] of [
      [FEW, before, rateBefore],
      [many, after, rateAfter],
    ] as const) {
      print(
        `  ${published} published: a batch of ${one.events} touches ${one.claimPages} pages to claim, ${one.settlePages} to settle; one relay brings ${Math.round(rate)} events a second out of a backlog`,
      );
    }
    const more = LEVELS * BATCH.events;
    return [
      ...before.faults,
      ...after.faults,
      ...(after.claimPages > before.claimPages + more ? ['a claim costs more with history'] : []),
      ...(after.settlePages > before.settlePages + more ? ['a mark costs more with history'] : []),
    ];
  } finally {
    client.release();
  }
}

/** Case I1: a transaction stays open while 10,000 later events commit and are published. */
async function lateCommit({ pool, sql, short, print, progress }: Lab): Promise<string[]> {
  const OPEN_MS = short ? 2000 : 60_000;
  const publisher = scriptedPublisher();
  const client = await pool.connect();
  const startedAt = Date.now();
  try {
    await client.query('begin');
    await client.query(
      `select leasehold.append_event(leasehold.new_job_id(), 'order', 'late', 'order.placed', '1')`,
    );
    for (let round = 0; round < 10; round += 1) {
      await appendMany(pool, `later ${round}`, 1000);
      while ((await relay(sql, publisher)).batches > 0);
      progress(`${publisher.published.length} published beside the open transaction`);
      await pause(Math.max(0, startedAt + (OPEN_MS / 10) * (round + 1) - Date.now()));
    }
    const meanwhile = publisher.published.length;
    await client.query('commit');
    await relay(sql, publisher);
    const late = publisher.sent('late').length;
    print(
      `  a transaction open for ${Math.round((Date.now() - startedAt) / 1000)} s: ${meanwhile} later events were published meanwhile, its own ${late} after its commit`,
    );
    return meanwhile === 10_000 && late === 1 ? [] : ['a late commit was lost, or held others up'];
  } finally {
    client.release();
  }
}

/** Case R16: slow receiver, two relays, killed after sending. */
async function slowReceiver({ pool, short, print, progress }: Lab): Promise<string[]> {
  const http = await createHttpSql({ sqlUrl: pool.options.connectionString ?? '' });
  const receiver = await startReceiver([PUSH_KEY]);
  try {
    await receiver.answer({ status: 200, delayMs: 20 });
    const report = await relayRace({
      pool,
      connectionString: http.connectionString,
      receiver,
      key: PUSH_KEY,
      relays: 2,
      aggregates: 300,
      eventsPerAggregate: short ? 10 : 100,
      killEvery: short ? 500 : 3000,
      kills: short ? 2 : 8,
      invocationMs: 15_000,
      progress,
    });
    print(
      `  ${report.events} events to a slow receiver, ${report.kills} relays killed: ${report.duplicates} repeats, ${report.disordered.length} aggregates out of order, ${Math.round(report.milliseconds / 1000)} s`,
    );
    return [
      ...(report.events === (short ? 3000 : 30_000) ? [] : ['events are missing']),
      ...(report.disordered.length === 0 ? [] : ['an aggregate came out of order']),
      ...(report.unsigned === 0 ? [] : ['a request was not signed']),
      ...(report.duplicates <= report.kills * RELAY_BATCH_EVENTS ? [] : ['too many repeats']),
      ...((await pendingCount(pool)) === 0 ? [] : ['events are left']),
    ];
  } finally {
    await receiver.close();
    await http.close();
  }
}

export const outbox: Experiment = {
  name: 'outbox',
  summary:
    'a relay beside 5 million published events, a late commit (I1), a slow receiver and killed relays (R16)',
  run: async (lab) => {
    const faults: string[] = [];
    for (const part of [lateCommit, slowReceiver, cost]) {
      await clearOutbox(lab.pool);
      faults.push(...(await part(lab)));
    }
    return [...new Set(faults)];
  },
};
