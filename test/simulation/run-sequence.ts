import type pg from 'pg';
import { uuidv7 } from 'uuidv7';
import type { Sql } from '../../shared/ports.ts';
import { cancel } from '../../shared/queue/cancel.ts';
import { claim } from '../../shared/queue/claim.ts';
import type { ClaimedJob } from '../../shared/queue/claimed-job.ts';
import { completeAndClaim } from '../../shared/queue/complete-and-claim.ts';
import { complete } from '../../shared/queue/complete.ts';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { discard } from '../../shared/queue/discard.ts';
import { editJob } from '../../shared/queue/edit-job.ts';
import { enqueue } from '../../shared/queue/enqueue.ts';
import { escalate } from '../../shared/queue/escalate.ts';
import { fail } from '../../shared/queue/fail.ts';
import { heartbeat } from '../../shared/queue/heartbeat.ts';
import { redrive } from '../../shared/queue/redrive.ts';
import { release } from '../../shared/queue/release.ts';
import { setQueuePaused } from '../../shared/queue/set-queue-paused.ts';
import { settle } from '../../shared/queue/settle.ts';
import { snooze } from '../../shared/queue/snooze.ts';
import { checkAgainst } from './check-against.ts';
import { MAX_UNKNOWN, Model, type ModelJob } from './model.ts';
import { actAsPerson } from './human-steps.ts';
import type { HumanStep, Step } from './steps.ts';
import { chosen, same } from './step-parts.ts';

/**
 * Runs a sequence on a queue of its own, in the database and in the model, and compares them after each step.
 *
 * @param escalateAfter the failure that hands a job to a person; null: the queue does not escalate
 */
export async function runSequence(
  pool: pg.Pool,
  sql: Sql,
  sequence: readonly Step[],
  escalateAfter: number | null = null,
): Promise<void> {
  const queue = `model ${uuidv7()}`;
  const settings = {
    backoff_base_ms: 0,
    max_unknown_attempts: MAX_UNKNOWN,
    lease_seconds: 3600,
    max_run_seconds: 86_400,
    ...(escalateAfter !== null && {
      on_exhausted: 'escalate' as const,
      escalate_after: escalateAfter,
    }),
  };
  await configureQueue(sql, { queue, settings, actor: 'model' });
  const world: World = { pool, sql, queue, model: new Model(escalateAfter), added: new Map() };
  for (const [at, step] of sequence.entries()) {
    try {
      await take(world, step);
      await checkAgainst(world.pool, queue, world.model);
    } catch (error) {
      throw new Error(
        `step ${at} (${JSON.stringify(step)}): ${error instanceof Error ? error.message : String(error)}`,
        {
          cause: error,
        },
      );
    }
  }
}

export interface World {
  readonly pool: pg.Pool;
  readonly sql: Sql;
  readonly queue: string;
  readonly model: Model;
  /** What each job was enqueued with, for repeats. */
  readonly added: Map<string, Parameters<typeof enqueue>[1]['job']>;
}

async function take(world: World, step: Step): Promise<void> {
  const { sql, pool, queue, model } = world;
  switch (step.do) {
    case 'enqueue':
      return await add(world, step);
    case 'repeat enqueue': {
      const job = chosen([...model.jobs.values()], step.pick);
      const was = job && world.added.get(job.id);
      if (was === undefined) return;
      same((await enqueue(sql, { job: was, actor: 'model' })).outcome, 'exists');
      return;
    }
    case 'claim':
      return await claimOne(world);
    case 'settle': {
      const expired = model.live.filter((job) => job.state === 'expired');
      const { settled } = await settle(sql, { queue, limit: 100, actor: 'model' });
      same(settled, expired.length);
      for (const job of expired) model.settle(job);
      return;
    }
    case 'time passes':
      await pool.query(
        'update leasehold.job_state set due_at = clock_timestamp() where queue = $1 and lane > 0 and due_at > clock_timestamp()',
        [queue],
      );
      for (const job of model.live) job.delayed = false;
      return;
    case 'pause':
    case 'resume':
      model.paused = step.do === 'pause';
      await setQueuePaused(sql, { queue, paused: model.paused, actor: 'model' });
      return;
    case 'expire': {
      const job = chosen(
        model.live.filter(({ state }) => state === 'running'),
        step.pick,
      );
      if (job === undefined) return;
      await pool.query(
        `update leasehold.job_state set due_at = clock_timestamp() where job_id = $1`,
        [job.id],
      );
      job.state = 'expired';
      return;
    }
    case 'cancel': {
      const job = chosen([...model.jobs.values()], step.pick);
      if (job === undefined) return;
      same(await cancel(sql, { jobId: job.id, actor: 'model', reason: 'r' }), model.cancel(job));
      return;
    }
    case 'edit': {
      const job = chosen([...model.jobs.values()], step.pick);
      if (job === undefined) return;
      const outcome = await editJob(sql, { jobId: job.id, priority: 'urgent', actor: 'model' });
      same(outcome, job.state === 'pending' ? 'edited' : 'not_pending');
      return;
    }
    case 'redrive':
    case 'discard': {
      const jobs = [...model.jobs.values()];
      const job =
        chosen(
          jobs.filter(({ state }) => state === 'dead'),
          step.pick,
        ) ?? chosen(jobs, step.pick);
      if (job === undefined) return;
      const input = { jobIds: [job.id], reason: 'r', actor: 'model' };
      const [answer] =
        step.do === 'redrive' ? await redrive(sql, input) : await discard(sql, input);
      same(answer?.outcome, step.do === 'redrive' ? model.redrive(job) : model.discard(job));
      return;
    }
    case 'complete':
    case 'complete and claim':
    case 'fail':
    case 'snooze':
    case 'release':
    case 'heartbeat':
    case 'ask':
      return await report(world, step);
    case 'take':
    case 'hold expires':
    case 'complete held':
    case 'send back':
    case 'discard held':
    case 'let go':
      return await actAsPerson(world, step);
  }
}

async function add(world: World, step: Extract<Step, { do: 'enqueue' }>): Promise<void> {
  const { sql, queue, model, added } = world;
  const key = step.key === 0 ? null : `key ${step.key}`;
  const dedup = step.dedup < 3 ? null : `dedup ${step.dedup}`;
  const job = {
    id: uuidv7(),
    queue,
    type: 'model',
    payload: null,
    maxAttempts: step.maxAttempts,
    ...(key !== null && { orderingKey: key }),
    ...(dedup !== null && { dedupKey: dedup }),
    ...(step.delayed && { delayMs: 3_600_000 }),
  };
  const answer = await enqueue(sql, { job, actor: 'model' });
  const holder = dedup === null ? undefined : model.holderOfDedup(dedup);
  same(
    [answer.outcome, answer.jobId],
    holder === undefined ? ['created', job.id] : ['duplicate', holder.id],
  );
  if (holder !== undefined) return;
  added.set(job.id, job);
  model.add(job.id, { key, dedup, maxAttempts: step.maxAttempts, delayed: step.delayed });
}

async function claimOne(world: World): Promise<void> {
  const { sql, queue, model } = world;
  const owner = `owner ${uuidv7()}`;
  const expired = model.live.filter((job) => job.state === 'expired');
  const taken = await claim(sql, { queue, owner, claimId: uuidv7() });
  await agree(world, owner, expired, taken.outcome === 'claimed' ? taken.job : undefined);
}

/** Whether a claim took what it might take; `expired` are the leases that it may have met. */
async function agree(
  world: World,
  owner: string,
  expired: readonly ModelJob[],
  taken: ClaimedJob | undefined,
): Promise<void> {
  const { pool, model } = world;
  // A claim may settle expired leases on its way; which ones is its choice, what becomes of them is not.
  for (const job of model.paused ? [] : expired) {
    if (model.settlementOf(job) === 'claim') continue;
    const { rowCount } = await pool.query(
      `select 1 from leasehold.job_state where job_id = $1 and lane = 0 and fencing_token = $2`,
      [job.id, job.token],
    );
    if (rowCount === 0) model.settle(job);
  }
  if (taken === undefined) {
    // Eight leases are settled a call at most; the next claim goes on.
    if (expired.length < 8)
      same(
        model.claimable.map((job) => job.id),
        [],
      );
    return;
  }
  const job = model.jobs.get(taken.jobId);
  if (job === undefined || !model.claimable.includes(job)) {
    throw new Error(`claimed ${taken.jobId}, which is ${JSON.stringify(job)}`);
  }
  model.claim(job, owner);
  same([taken.fencingToken, taken.attempt, taken.note], [String(job.token), job.attempt, job.note]);
}

async function report(
  world: World,
  step: Exclude<Extract<Step, { stale: boolean }>, HumanStep>,
): Promise<void> {
  const { sql, queue, model } = world;
  const holders = [...model.jobs.values()].filter((job) => job.token > 0);
  const job = chosen(
    step.stale ? holders : holders.filter(({ state }) => state === 'running'),
    step.pick,
  );
  if (job === undefined) return;
  const lease = {
    jobId: job.id,
    owner: job.owner ?? 'nobody',
    fencingToken: String(step.stale ? job.token - 1 : job.token),
  };
  const lost = step.stale;
  switch (step.do) {
    case 'complete':
      same((await complete(sql, lease)).outcome, lost ? 'lease_lost' : model.complete(job));
      return;
    case 'complete and claim': {
      const expired = model.live.filter((one) => one.state === 'expired');
      const end = await completeAndClaim(sql, { ...lease, queue, claimId: uuidv7() });
      same(end.outcome, lost ? 'lease_lost' : model.complete(job));
      if (end.outcome !== 'lease_lost') await agree(world, lease.owner, expired, end.next);
      return;
    }
    case 'fail': {
      const { failureClass } = step;
      const outcome = await fail(sql, {
        ...lease,
        error: { code: 'model', message: 'M.' },
        failureClass,
      });
      same(outcome.outcome, lost ? 'lease_lost' : model.fail(job, failureClass));
      return;
    }
    case 'snooze':
      same(
        (await snooze(sql, { ...lease, delayMs: 3_600_000 })).outcome,
        lost ? 'lease_lost' : model.giveBack(job, true),
      );
      return;
    case 'release':
      same((await release(sql, lease)).outcome, lost ? 'lease_lost' : model.giveBack(job, false));
      return;
    case 'ask': {
      const asked = await escalate(sql, { ...lease, question: 'Which one?' });
      same(asked.outcome, lost ? 'lease_lost' : model.ask(job));
      return;
    }
    case 'heartbeat': {
      const beat = await heartbeat(sql, { ...lease, step: 1 });
      same(beat.outcome, lost ? 'lease_lost' : 'held');
      if (beat.outcome === 'held') same(beat.cancelRequested, job.cancelRequested);
      return;
    }
  }
}
