import { uuidv7 } from 'uuidv7';
import { claimEscalated } from '../../shared/queue/claim-escalated.ts';
import { settleEscalated, type Decision } from '../../shared/queue/settle-escalated.ts';
import type { Model, ModelJob } from './model.ts';
import type { World } from './run-sequence.ts';
import { chosen, same } from './step-parts.ts';
import type { HumanStep } from './steps.ts';

/** Something that people do, in the database and in the model. */
export async function actAsPerson(world: World, step: HumanStep): Promise<void> {
  const { sql, pool, queue, model } = world;
  switch (step.do) {
    case 'take': {
      const owner = `person ${uuidv7()}`;
      const taken = await claimEscalated(sql, { owner, claimId: uuidv7(), queue });
      const job = model.nextForPeople;
      same(taken?.jobId, job?.id);
      if (job === undefined) return;
      model.takeEscalated(job, owner);
      same(
        [taken?.fencingToken, taken?.attempt, taken?.redrives],
        [String(job.token), job.attempt, job.redrives],
      );
      return;
    }
    case 'hold expires': {
      const job = chosen(heldJobs(model), step.pick);
      if (job === undefined) return;
      await pool.query(
        'update leasehold.dead_letters set held_until = clock_timestamp() where job_id = $1',
        [job.id],
      );
      job.hold = 'expired';
      return;
    }
    case 'complete held':
    case 'send back':
    case 'discard held':
    case 'let go':
      return await settleHeld(world, step);
  }
}

async function settleHeld(
  { sql, model }: World,
  step: Extract<HumanStep, { stale: boolean }>,
): Promise<void> {
  const job = chosen(
    step.stale ? [...model.jobs.values()].filter(({ token }) => token > 0) : heldJobs(model),
    step.pick,
  );
  if (job === undefined) return;
  const { decision, told } = decisionOf(model, job, step.do);
  const { outcome } = await settleEscalated(sql, {
    jobId: job.id,
    owner: job.owner ?? 'nobody',
    fencingToken: String(step.stale ? job.token - 1 : job.token),
    ...decision,
  });
  same(outcome, step.stale ? 'lease_lost' : told());
}

/** What the person says, and what the model makes of it. */
function decisionOf(
  model: Model,
  job: ModelJob,
  verb: Extract<HumanStep, { stale: boolean }>['do'],
): { readonly decision: Decision; readonly told: () => string } {
  switch (verb) {
    case 'complete held':
      return { decision: { action: 'complete' }, told: () => model.completeHeld(job) };
    case 'send back': {
      const note = `note ${job.token}`;
      return { decision: { action: 'send_back', note }, told: () => model.sendBack(job, note) };
    }
    case 'discard held':
      return { decision: { action: 'discard', reason: 'r' }, told: () => model.discardHeld(job) };
    case 'let go':
      return { decision: { action: 'release' }, told: () => model.release(job) };
  }
}

function heldJobs(model: Model): ModelJob[] {
  return [...model.jobs.values()].filter(({ hold }) => hold === 'held');
}
