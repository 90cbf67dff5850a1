import { claimEscalated } from '../../../shared/queue/claim-escalated.ts';
import { claim } from '../../../shared/queue/claim.ts';
import { complete } from '../../../shared/queue/complete.ts';
import { fail } from '../../../shared/queue/fail.ts';
import { settleEscalated } from '../../../shared/queue/settle-escalated.ts';
import { claimEvents } from '../../../shared/outbox/claim-events.ts';
import { settleEvents } from '../../../shared/outbox/settle-events.ts';
import { setQueuePaused } from '../../../shared/queue/set-queue-paused.ts';
import type { Actor } from './actor.ts';
import type { Control } from './control.ts';
import { handle, type Subscription } from './consumer.ts';
import { CALM, QUEUE_NAMES } from './world.ts';

/** A claim settles a few expired leases at most, so one that finds nothing is asked again. */
const EMPTY_CLAIMS = 4;
/** More than any lease, delay or backoff. */
const LONG_MS = 12_000;
const MOST_ROUNDS = 30;

/**
 * Works off what a run has left: one worker with nobody in its way. At first without letting time go on, then `check`: what
 * is due must have been found. Then until nothing is left, dead jobs by a person.
 */
export async function finish(
  actor: Actor,
  control: Control,
  subscriptions: readonly Subscription[],
  check: () => Promise<void>,
): Promise<void> {
  const { world, session } = actor;
  world.weather = CALM;
  world.note('everybody', 'is killed; what is due is worked off');
  for (const queue of QUEUE_NAMES) {
    await session.begin();
    await setQueuePaused(session.sql, { queue, paused: false, actor: actor.name });
    await session.commit();
  }
  await workOff(actor);
  await check();

  for (let round = 1; await isLeft(control); round += 1) {
    if (round > MOST_ROUNDS) throw new Error('jobs are left that nobody can work off');
    world.letPass(LONG_MS);
    await workOff(actor);
    await settleDead(actor, round);
    await decideAll(actor, round);
  }
  await publishAll(actor);
  for (const subscription of subscriptions) await consumeAll(actor, subscription);
}

async function workOff(actor: Actor): Promise<void> {
  const { session, world } = actor;
  const owner = actor.name;
  for (const queue of QUEUE_NAMES) {
    for (let empty = 0; empty < EMPTY_CLAIMS;) {
      await session.begin();
      const taken = await claim(session.sql, { queue, owner, claimId: actor.uuid() });
      await session.commit();
      if (taken.outcome === 'empty') {
        empty += 1;
        continue;
      }
      empty = 0;
      const lease = { jobId: taken.job.jobId, owner, fencingToken: taken.job.fencingToken };
      world.note(owner, `works off ${lease.jobId} (${lease.fencingToken})`);
      await session.begin();
      const error = { code: 'simulated', message: 'M.', fencing_token: lease.fencingToken };
      if (taken.job.type === 'in_transaction') {
        // Its effect goes with its completion, which is not made here.
        await fail(session.sql, { ...lease, error, failureClass: 'permanent' });
      } else {
        await complete(session.sql, { ...lease, result: { fencing_token: lease.fencingToken } });
      }
      await session.commit();
    }
  }
}

/** Redriven at first, so that they are worked off; later given up. */
async function settleDead({ session, name }: Actor, round: number): Promise<void> {
  await session.begin();
  const rows = await session.sql.query<{ job_id: string }>(
    'select job_id from leasehold.dead_letters',
    [],
  );
  const ids = JSON.stringify(rows.map(({ job_id: id }) => id));
  const verb = round < 3 ? 'redrive' : 'discard';
  if (rows.length > 0) {
    await session.sql.query(`select * from leasehold.${verb}($1, 'the end', $2)`, [ids, name]);
  }
  await session.commit();
}

/** What waits for people: sent back at first, later done by hand. A hold that cannot be sent back runs out. */
async function decideAll(actor: Actor, round: number): Promise<void> {
  const { session, name: owner } = actor;
  for (;;) {
    await session.begin();
    const hold = await claimEscalated(session.sql, {
      owner,
      claimId: actor.uuid(),
      leaseSeconds: 5,
    });
    if (hold !== undefined) {
      const { jobId, fencingToken } = hold;
      actor.world.note(owner, `decides on ${jobId} (${fencingToken})`);
      const byHand = { action: 'complete', result: { fencing_token: fencingToken } } as const;
      const back = { action: 'send_back', note: `token ${fencingToken} decides` } as const;
      const decision = round < 3 ? back : byHand;
      await settleEscalated(session.sql, { jobId, owner, fencingToken, ...decision });
    }
    await session.commit();
    if (hold === undefined) return;
  }
}

async function isLeft(control: Control): Promise<boolean> {
  const rows = await control.query<{ left: boolean }>(
    `select exists (select from leasehold.job_state) or exists (select from leasehold.dead_letters) as left`,
  );
  return rows[0]?.left === true;
}

async function publishAll(actor: Actor): Promise<void> {
  const { session, world, name: owner } = actor;
  for (let empty = 0; empty < 3;) {
    await session.begin();
    const input = { owner, claimId: actor.uuid(), leaseSeconds: 60, limit: 100 };
    const batch = await claimEvents(session.sql, input);
    const results = (batch?.events ?? []).map(({ id }) => ({ id, outcome: 'published' as const }));
    for (const { id, aggregateId, version } of batch?.events ?? []) {
      world.broker.push({ id, aggregate: aggregateId, version });
    }
    if (batch !== undefined) {
      const settings = { more: false, leaseSeconds: 60, maxAttempts: 50 };
      await settleEvents(session.sql, { lease: batch.lease, results, ...settings });
    }
    await session.commit();
    empty = batch === undefined ? empty + 1 : 0;
    // Held events wait for their time, and leases of dead relays for their end.
    if (batch === undefined) world.letPass(400_000);
  }
}

async function consumeAll(actor: Actor, subscription: Subscription): Promise<void> {
  for (const message of subscription.waiting(actor.world.broker)) {
    for await (const _ of handle(actor, subscription, message));
    subscription.acknowledged.add(message);
  }
}
