import { claimEscalated } from '../../../shared/queue/claim-escalated.ts';
import { settleEscalated, type Decision } from '../../../shared/queue/settle-escalated.ts';
import type { Actor, Steps } from './actor.ts';
import { short } from './producer.ts';
import type { QueueName } from './world.ts';

/** People may have more than one window open. */
const OWNERS = ['maria', 'maria', 'omar'] as const;
const REPEATED = 0.2;
/** Longer than a run goes on. */
const LONG_SECONDS = 60;

interface Hold {
  readonly jobId: string;
  readonly owner: string;
  readonly fencingToken: string;
  readonly queue: QueueName;
}

/** Takes escalated jobs, one after another, and decides: in time or not, and now and then twice. */
export async function* decide(actor: Actor): Steps {
  const { random, world } = actor;
  for (;;) {
    yield* actor.pause(random.between(2, 12));
    const hold = yield* take(actor);
    if (hold === undefined) continue;
    yield* actor.pause(random.chance(0.3) ? random.between(20, 90) : random.below(10));
    if (random.chance(0.2)) yield* holdOn(actor, hold);
    if (random.chance(0.15)) {
      actor.note(`forgets ${name(hold)}`);
      continue;
    }
    const decision = decisionOn(actor, hold);
    const outcome = yield* settle(actor, hold, decision);
    if (outcome === 'lease_lost') world.tally.leasesLost += 1;
    if (outcome === 'pending') world.hint(hold.queue, random);
    const isDone = outcome !== 'lease_lost' && outcome !== 'dedup_key_taken';
    if (!isDone || !random.chance(REPEATED)) continue;
    // The same again gives the same answer, whatever has become of the job; another decision comes too late.
    yield* actor.pause(random.below(20));
    const other: Decision = { action: decision.action === 'release' ? 'complete' : 'release' };
    const again = random.chance(0.7);
    const answer = yield* settle(actor, hold, again ? decision : other);
    if (answer !== (again ? outcome : 'lease_lost')) {
      throw new Error(`a decision that was ${outcome} is ${answer} when it is sent again`);
    }
  }
}

/** Any job, one of a queue, or one that was chosen from a list which may be old; also under a claim id that was used already. */
async function* take(actor: Actor): Steps<Hold | undefined> {
  const { random, world } = actor;
  const owner = random.pick(OWNERS);
  const wish = random.weighted({ any: 3, queue: 2, job: 3 });
  const jobId = wish === 'job' ? yield* choose(actor) : undefined;
  if (wish === 'job' && jobId === undefined) return undefined;
  const input = {
    owner,
    claimId: actor.uuid(),
    leaseSeconds: random.chance(0.85) ? random.between(1, 3) : LONG_SECONDS,
    ...(wish === 'queue' && { queue: random.pick(world.weather.queues) ?? 'plain' }),
    ...(jobId !== undefined && { jobId }),
  };
  const what = `take ${wish} as ${owner}`;
  let hold = yield* claim(actor, what, input);
  if (random.chance(REPEATED)) {
    yield* actor.pause(random.below(25));
    hold = yield* claim(actor, `${what} again`, input);
  }
  return hold;
}

async function* choose(actor: Actor): Steps<string | undefined> {
  const waiting = yield* actor.ask('look at the escalations', async (sql) => {
    const rows = await sql.query<{ job_id: string }>(
      `select job_id from leasehold.dead_letters where state = 'escalated' order by dead_at, job_id limit 3`,
      [],
    );
    return rows.map(({ job_id: id }) => id);
  });
  return actor.random.pick(waiting);
}

function claim(
  actor: Actor,
  what: string,
  input: Parameters<typeof claimEscalated>[1],
): Steps<Hold | undefined> {
  return actor.ask(what, async (sql) => {
    const job = await claimEscalated(sql, input);
    if (job === undefined) return undefined;
    const { jobId, fencingToken } = job;
    return { jobId, owner: input.owner, fencingToken, queue: job.queue as QueueName };
  });
}

/** Needs longer: asks for the same job once more. */
async function* holdOn(actor: Actor, hold: Hold): Steps {
  const { jobId, owner } = hold;
  const input = { owner, claimId: actor.uuid(), jobId, leaseSeconds: 4 };
  yield* claim(actor, `go on with ${name(hold)}`, input);
}

function decisionOn({ random }: Actor, { fencingToken }: Hold): Decision {
  const text = `token ${fencingToken} decides`;
  switch (random.weighted({ complete: 4, send_back: 6, discard: 1, release: 2 })) {
    case 'complete':
      return { action: 'complete', note: text, result: { fencing_token: fencingToken } };
    case 'send_back':
      return { action: 'send_back', note: text };
    case 'discard':
      return { action: 'discard', reason: text };
    case 'release':
      return { action: 'release' };
  }
}

function settle(actor: Actor, hold: Hold, decision: Decision): Steps<string> {
  const { jobId, owner, fencingToken } = hold;
  const lease = { jobId, owner, fencingToken };
  return actor.ask(
    `${decision.action} ${name(hold)} as ${owner}`,
    async (sql) => (await settleEscalated(sql, { ...lease, ...decision })).outcome,
    { reportsOn: jobId },
  );
}

function name({ jobId, fencingToken }: Hold): string {
  return `${short(jobId)} (${fencingToken})`;
}
