import { settle } from '../../../shared/queue/settle.ts';
import { claimEvents } from '../../../shared/outbox/claim-events.ts';
import { settleEvents, type PublishResult } from '../../../shared/outbox/settle-events.ts';
import type { Actor, Steps } from './actor.ts';
import { short } from './producer.ts';
import type { QueueName } from './world.ts';

/** The drain: pokes for whatever is due, settles leases that ran out. */
export async function* drain(actor: Actor): Steps {
  const { random, world } = actor;
  for (;;) {
    yield* actor.pause(random.between(6, 20));
    const due = yield* actor.ask('look for due queues', async (sql) => {
      const rows = await sql.query<{ queue: string; expired: number }>(
        'select queue, expired::int from leasehold.due_queues(10, 10, null)',
        [],
      );
      return rows.map(({ queue, expired }) => ({ queue: queue as QueueName, expired }));
    });
    for (const { queue, expired } of due) {
      world.hint(queue, random);
      if (expired === 0 || random.chance(0.5)) continue;
      const limit = random.between(1, 10);
      yield* actor.ask(`settle ${queue}`, (sql) =>
        settle(sql, { queue, limit, actor: actor.name }),
      );
    }
  }
}

/** Relays go by one name, and lose their shards to each other. */
const RELAY = 'relay';
const LEASE_SECONDS = 1;
const MAX_ATTEMPTS = 50;

/** Publishes what a shard has, one event after another; some receivers refuse, and a relay may die or dawdle anywhere. */
export async function* relay(actor: Actor): Steps {
  const { random } = actor;
  for (;;) {
    yield* actor.pause(random.between(2, 12));
    const claimId = actor.uuid();
    let more = true;
    while (more) {
      const input = {
        owner: RELAY,
        claimId,
        leaseSeconds: LEASE_SECONDS,
        limit: random.pick([1, 1, 6]),
      };
      const batch = yield* actor.ask('claim events', async (sql) => {
        const found = await claimEvents(sql, input);
        return found && { lease: found.lease, events: found.events.map(essence) };
      });
      if (batch === undefined) break;
      const results = yield* publish(actor, batch.events);
      if (random.chance(0.08)) break; // sent, and never marked
      if (random.chance(0.35)) yield* actor.pause(random.between(15, 50));
      const { lease } = batch;
      const keep = random.chance(0.4);
      const settings = { leaseSeconds: LEASE_SECONDS, maxAttempts: MAX_ATTEMPTS, more: keep };
      const { outcome } = yield* actor.ask(
        `settle shard ${lease.shard} (${lease.fencingToken})`,
        (sql) => settleEvents(sql, { lease, results, ...settings }),
      );
      if (outcome === 'lease_lost') actor.world.tally.leasesLost += 1;
      more = keep && outcome === 'settled';
    }
  }
}

interface EventToPublish {
  readonly id: string;
  readonly aggregate: string;
  readonly version: number;
  readonly attempt: number;
}

async function* publish(actor: Actor, events: readonly EventToPublish[]): Steps<PublishResult[]> {
  const { random, world } = actor;
  const results: PublishResult[] = [];
  const refused = new Set<string>();
  for (const { id, aggregate, version, attempt } of events) {
    yield;
    // Behind one that did not go out, its aggregate waits.
    if (refused.has(aggregate)) continue;
    if (random.chance(0.12)) {
      refused.add(aggregate);
      const error = { code: 'refused', message: 'M.' };
      results.push({ id, outcome: 'failed', attempt, error });
      continue;
    }
    world.broker.push({ id, aggregate, version });
    actor.note(`publishes ${short(id)}, version ${version} of ${aggregate}`);
    results.push({ id, outcome: 'published' });
  }
  return results;
}

function essence(event: {
  readonly id: string;
  readonly aggregateId: string;
  readonly version: number;
  readonly attempt: number;
}): EventToPublish {
  const { id, aggregateId, version, attempt } = event;
  return { id, aggregate: aggregateId, version, attempt };
}
