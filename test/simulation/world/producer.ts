import { appendEvent } from '../../../shared/outbox/append-event.ts';
import { enqueueBatch } from '../../../shared/queue/enqueue-batch.ts';
import type { NewJob } from '../../../shared/queue/new-job.ts';
import { RolledBack, type Actor, type Steps } from './actor.ts';
import type { QueueName } from './world.ts';

/** What a handler does with a job of this type; see worker.ts. */
export const JOB_TYPES = ['plain', 'in_transaction', 'effect'] as const;
const AGGREGATES = 3;

/** Adds jobs: alone, many at once, or with rows and events of its own in one transaction. */
export async function* produce(actor: Actor): Steps {
  const { random, world } = actor;
  while (world.jobsToAdd > 0) {
    yield* actor.pause(random.below(8));
    const form = random.weighted({ one: 4, many: 2, transaction: 5 });
    if (world.jobsToAdd === 0) return;
    const count = Math.min(world.jobsToAdd, form === 'many' ? random.between(2, 5) : 1);
    const batch = Array.from({ length: count }, () => newJob(actor));
    world.jobsToAdd -= count;
    if (form === 'transaction') yield* addInTransaction(actor, batch);
    else yield* add(actor, batch);
  }
}

async function* add(actor: Actor, jobs: readonly NewJob[]): Steps {
  const what = `enqueue ${jobs.map(({ id, queue }) => `${short(id)} in ${queue}`).join(', ')}`;
  const answers = yield* actor.ask(what, async (sql) =>
    (await enqueueBatch(sql, { jobs, actor: actor.name })).map(({ jobId, outcome }) => ({
      jobId,
      outcome,
    })),
  );
  for (const { jobId } of answers) actor.world.accept(jobId);
  for (const { queue } of jobs) actor.world.hint(queue as QueueName, actor.random);
}

/** A row, events about it and a job, together or not at all. */
async function* addInTransaction(actor: Actor, jobs: readonly NewJob[]): Steps {
  const { random, world } = actor;
  const order = actor.uuid();
  const events = Array.from({ length: random.between(1, 6) }, () => actor.uuid());
  const aggregateId = String(random.between(1, AGGREGATES));
  const takesBack = random.chance(0.15);
  const held = random.chance(world.weather.lateCommits) ? random.between(20, 70) : 0;
  try {
    const what = `order ${short(order)} of ${aggregateId} with ${jobs.map(({ id }) => short(id)).join(', ')}`;
    const answers = yield* actor.ask(
      what,
      async (sql) => {
        await sql.query('insert into app.orders values ($1, $2) on conflict do nothing', [
          order,
          actor.name,
        ]);
        const added = await enqueueBatch(sql, { jobs, actor: actor.name });
        for (const id of events) {
          const event = {
            id,
            aggregateType: 'order',
            aggregateId,
            type: 'order.changed',
            payload: { order },
          };
          await appendEvent(sql, { event, actor: actor.name });
        }
        if (takesBack) throw new RolledBack(what);
        return added.map(({ jobId, outcome }) => ({ jobId, outcome }));
      },
      { held },
    );
    for (const { jobId } of answers) world.accept(jobId);
    for (const { queue } of jobs) world.hint(queue as QueueName, random);
  } catch (error) {
    if (!(error instanceof RolledBack)) throw error;
    actor.note('takes its order back');
  }
}

function newJob(actor: Actor): NewJob {
  const { random, world } = actor;
  const queue = random.pick(world.weather.queues) ?? 'plain';
  const keyed = queue === 'keyed' || queue === 'loose';
  return {
    id: actor.uuid(),
    queue,
    type: random.pick(JOB_TYPES),
    payload: { from: actor.name },
    priority: random.pick(['urgent', 'high', 'normal', 'normal', 'low']),
    ...(random.chance(0.2) && { delayMs: random.between(50, 2000) }),
    ...(random.chance(0.4) && { maxAttempts: random.between(1, 3) }),
    ...(random.chance(0.3) && { maxUnknownAttempts: random.between(1, 2) }),
    ...(world.weather.people > 0 && random.chance(0.2) && { escalateAfter: random.between(1, 3) }),
    ...(keyed && random.chance(0.8) && { orderingKey: `key ${random.below(world.weather.keys)}` }),
    ...(random.chance(0.25) && {
      dedupKey: `dedup ${random.below(world.weather.keys)}`,
      onDuplicate: random.pick(['return', 'replace']),
    }),
  };
}

/** Enough of an id to find it in a log. */
export function short(id: string): string {
  return id.slice(-6);
}
