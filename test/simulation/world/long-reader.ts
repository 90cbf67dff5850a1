import type { Actor, Steps } from './actor.ts';
import type { Control } from './control.ts';

/** More than a claim walks without asking for floors. */
const DEAD_ENTRIES = 260;

/**
 * Somebody's long report: a snapshot that holds up vacuum, with what a day of work leaves behind it.
 *
 * @param beside a connection for what others have left
 */
export async function* readLong(actor: Actor, beside: Control): Steps {
  const { random, session, world } = actor;
  for (;;) {
    yield* actor.pause(random.between(5, 30));
    try {
      await session.begin('repeatable read');
      await session.sql.query('select count(*) from leasehold.job_state', []);
      world.tally.oldSnapshots += 1;
      const { deadEntries, queues } = world.weather;
      actor.note(`holds a snapshot${deadEntries ? ' before many dead entries' : ''}`);
      if (deadEntries) for (const queue of queues) await leaveDeadEntries(beside, queue);
      yield* actor.pause(random.between(30, 90));
      await session.rollback();
    } catch {
      session.close(); // its connection was cut
    }
    actor.note('lets its snapshot go');
  }
}

async function leaveDeadEntries(beside: Control, queue: string): Promise<void> {
  await beside.query(
    `insert into leasehold.job_state (job_id, due_at, max_attempts, lane, home_lane, queue)
     select gen_random_uuid(), virtual.peek() - interval '1 hour', 1, 1 + i % 4, 1, $1
     from generate_series(1, ${DEAD_ENTRIES}) i`,
    [queue],
  );
  await beside.query(
    'delete from leasehold.job_state s where s.queue = $1 and not exists (select from leasehold.jobs j where j.id = s.job_id)',
    [queue],
  );
}
