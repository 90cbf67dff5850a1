import { claimBatch } from '../../../shared/queue/claim-batch.ts';
import { claim } from '../../../shared/queue/claim.ts';
import type { Actor, Steps } from './actor.ts';
import { held, type HeldLease } from './held-lease.ts';
import { runJob } from './run-job.ts';
import type { QueueName } from './world.ts';

/** Owners are names, and several processes may go by one. */
const OWNERS = ['worker', 'worker', 'agent'] as const;

/** Serves pokes, as a deployed worker does; now and then it looks by itself, as an agent does. */
export async function* serve(actor: Actor): Steps {
  const { random, world } = actor;
  for (;;) {
    yield* actor.pause(random.below(4));
    const queue = nextHint(actor);
    if (queue === undefined) continue;
    const owner = random.pick(OWNERS);
    if (random.chance(0.15)) {
      yield* serveMany(actor, queue, owner);
      continue;
    }
    const input = { queue, owner, claimId: actor.uuid() };
    let lease = yield* actor.ask(`claim from ${queue} as ${owner}`, async (sql) => {
      const answer = await claim(sql, input);
      return answer.outcome === 'claimed' ? held(actor, owner, answer.job) : undefined;
    });
    while (lease !== undefined) {
      const next: HeldLease | undefined = yield* runJob(actor, lease);
      lease = next;
    }
    if (random.chance(0.5)) world.hint(queue, random);
  }
}

/** Takes several jobs at once, and works on one after another. */
async function* serveMany(actor: Actor, queue: QueueName, owner: string): Steps {
  const input = { queue, owner, claimId: actor.uuid(), limit: actor.random.between(2, 4) };
  const leases = yield* actor.ask(`claim ${input.limit} from ${queue} as ${owner}`, async (sql) =>
    (await claimBatch(sql, input)).map((job) => held(actor, owner, job)),
  );
  for (const lease of leases) yield* runJob(actor, lease);
}

function nextHint(actor: Actor): QueueName | undefined {
  const { hints } = actor.world;
  if (hints.length > 0) {
    // They may overtake each other.
    return hints.splice(actor.random.below(hints.length), 1)[0];
  }
  return actor.random.chance(0.2) ? actor.random.pick(actor.world.weather.queues) : undefined;
}
