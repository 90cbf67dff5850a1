import type { Sql } from '../../../shared/ports.ts';
import type { Actor, Steps } from './actor.ts';
import { short } from './producer.ts';
import type { BrokerMessage } from './world.ts';

export type Policy = 'any' | 'apply-newer-only' | 'strict';

/** How far behind the oldest unacknowledged message the broker may reach. */
const WINDOW = 4;

/** Which messages a consumer has acknowledged: kept by the broker, so it outlives the consumer. */
export class Subscription {
  readonly name: string;
  readonly policy: Policy;
  readonly acknowledged = new Set<BrokerMessage>();

  constructor(name: string, policy: Policy) {
    this.name = name;
    this.policy = policy;
  }

  /** Messages that are to be delivered, oldest first. */
  waiting(broker: readonly BrokerMessage[]): BrokerMessage[] {
    return broker.filter((message) => !this.acknowledged.has(message));
  }
}

/** Applies events as they come, in whatever order and more than once; acknowledges after the commit. */
export async function* consume(actor: Actor, subscription: Subscription): Steps {
  const { random, world } = actor;
  for (;;) {
    yield* actor.pause(random.below(5));
    const waiting = subscription.waiting(world.broker).slice(0, WINDOW);
    const again = random.chance(0.1) ? random.pick(world.broker) : undefined;
    const message = again ?? random.pick(waiting);
    if (message === undefined) continue;
    yield* handle(actor, subscription, message);
    // The acknowledgement may be lost: the message comes again.
    if (random.chance(0.9)) subscription.acknowledged.add(message);
  }
}

export async function* handle(
  actor: Actor,
  subscription: Subscription,
  message: BrokerMessage,
): Steps {
  const { name, policy } = subscription;
  const what = `${name}: version ${message.version} of ${message.aggregate} (${short(message.id)})`;
  let outcome = yield* actor.ask(what, (sql) => apply(sql, subscription, message));
  if (policy !== 'strict') return;
  if (outcome === 'gap') {
    const missing = yield* actor.ask(`park ${what}`, (sql) => park(sql, name, message));
    if (missing !== null) return;
    outcome = yield* actor.ask(what, (sql) => apply(sql, subscription, message));
  }
  while (outcome === 'accepted' || outcome === 'duplicate') {
    const next = yield* actor.ask(`${name}: parked of ${message.aggregate}`, (sql) =>
      parked(sql, name, message.aggregate),
    );
    if (next === undefined) return;
    outcome = yield* actor.ask(`${name}: version ${next.version}, parked`, (sql) =>
      apply(sql, subscription, next),
    );
  }
}

/** The record and the effect in one transaction. */
async function apply(
  sql: Sql,
  { name, policy }: Subscription,
  { id, aggregate, version }: BrokerMessage,
): Promise<string> {
  const [row] = await sql.query<{ outcome: string }>(
    `select outcome from leasehold.accept_event($1, $2, 'order', $3, $4, $5)`,
    [name, id, aggregate, String(version), policy],
  );
  const outcome = row?.outcome ?? '';
  if (outcome === 'accepted') {
    await sql.query(
      `insert into app.event_effects (consumer, sender, event_id, aggregate, version) values ($1, '', $2, $3, $4)`,
      [name, id, aggregate, policy === 'any' ? null : String(version)],
    );
  }
  return outcome;
}

async function park(sql: Sql, name: string, message: BrokerMessage): Promise<string | null> {
  const { id, aggregate, version } = message;
  const [row] = await sql.query<{ missing: string | null }>(
    `select leasehold.park_event($1, $2, 'order', $3, $4, $5) as missing`,
    [name, id, aggregate, String(version), JSON.stringify(message)],
  );
  return row?.missing ?? null;
}

async function parked(
  sql: Sql,
  name: string,
  aggregate: string,
): Promise<BrokerMessage | undefined> {
  const [row] = await sql.query<{ event: { id: string; aggregate: string; version: number } }>(
    `select event from leasehold.parked_event($1, 'order', $2)`,
    [name, aggregate],
  );
  return row?.event;
}
