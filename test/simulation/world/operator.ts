import { cancel } from '../../../shared/queue/cancel.ts';
import { discard } from '../../../shared/queue/discard.ts';
import { editJob } from '../../../shared/queue/edit-job.ts';
import { noteDeadLetter } from '../../../shared/queue/note-dead-letter.ts';
import { redrive } from '../../../shared/queue/redrive.ts';
import { setQueuePaused } from '../../../shared/queue/set-queue-paused.ts';
import type { Actor, Steps } from './actor.ts';
import { short } from './producer.ts';

/** A person who pauses, calls off, edits, and settles dead jobs. */
export async function* operate(actor: Actor): Steps {
  const { random, world, name } = actor;
  for (;;) {
    yield* actor.pause(random.between(3, 15));
    const act = random.weighted({ pause: 1, cancel: 4, edit: 3, dead: 6 });
    if (act === 'pause') {
      const queue = random.pick(world.weather.queues) ?? 'plain';
      yield* actor.ask(`pause ${queue}`, (sql) =>
        setQueuePaused(sql, { queue, paused: true, actor: name }),
      );
      yield* actor.pause(random.between(5, 30));
      yield* actor.ask(`resume ${queue}`, (sql) =>
        setQueuePaused(sql, { queue, paused: false, actor: name }),
      );
      continue;
    }
    if (act === 'dead') {
      yield* settleDead(actor);
      continue;
    }
    const jobId = random.pick([...world.accepted].slice(-12));
    if (jobId === undefined) continue;
    if (act === 'cancel') {
      yield* actor.ask(`cancel ${short(jobId)}`, (sql) =>
        cancel(sql, { jobId, actor: name, reason: 'r' }),
      );
    } else {
      const priority = random.pick(['urgent', 'low'] as const);
      const dueAt = new Date(world.now + random.between(-1000, 3000)).toISOString();
      yield* actor.ask(`edit ${short(jobId)}`, (sql) =>
        editJob(sql, { jobId, actor: name, ...(random.chance(0.5) ? { priority } : { dueAt }) }),
      );
    }
  }
}

async function* settleDead(actor: Actor): Steps {
  const { random, name } = actor;
  const dead = yield* actor.ask('look at the dead letters', async (sql) => {
    const rows = await sql.query<{ job_id: string }>(
      'select job_id from leasehold.dead_letters order by dead_at, job_id limit 4',
      [],
    );
    return rows.map(({ job_id: id }) => id);
  });
  const jobId = random.pick(dead);
  if (jobId === undefined) return;
  const act = random.weighted({ redrive: 6, discard: 2, note: 1 });
  const input = { jobIds: random.chance(0.3) ? dead : [jobId], reason: 'r', actor: name };
  if (act === 'note') {
    yield* actor.ask(`note ${short(jobId)}`, (sql) =>
      noteDeadLetter(sql, { jobId, note: 'seen', actor: name }),
    );
    return;
  }
  const call = act === 'redrive' ? redrive : discard;
  yield* actor.ask(`${act} ${input.jobIds.map(short).join(', ')}`, async (sql) =>
    (await call(sql, input)).map(({ outcome }) => outcome),
  );
}
