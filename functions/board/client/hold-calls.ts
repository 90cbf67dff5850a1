/**
 * Jobs that this person holds. What the board shows of a job says who holds it and under which token, so nothing is kept
 * here: a hold that was taken in another window, or anew after it had run out, is settled as any.
 */
import type { Api } from './api.ts';
import type { JobSummary } from './wire.ts';

/** What this needs of the board. */
export interface Holder {
  readonly api: Pick<Api, 'send'>;
  readonly session: { readonly actor: string };
  readonly newClaimId: () => string;
}

const HOLD_SECONDS = 60 * 60;

interface Claimed {
  readonly job: { readonly id: string; readonly fencing_token: string } | null;
}

/** Takes this job, or the one that has waited longest; gives back its id, or undefined when there is none to take. */
export async function takeJob(
  board: Holder,
  wanted: { readonly job_id?: string; readonly queue?: string },
): Promise<string | undefined> {
  return (await claim(board, wanted))?.id;
}

/** One that is not held yet is taken first: the question was asked of this person all the same. */
export async function settle(
  board: Holder,
  job: Pick<JobSummary, 'id' | 'escalated'>,
  verb: string,
  body: object,
): Promise<void> {
  const held = job.escalated?.held_by === board.session.actor ? job.escalated : undefined;
  const token = held?.fencing_token ?? (await claim(board, { job_id: job.id }))?.fencing_token;
  await board.api.send('POST', `/v1/escalations/${job.id}/${verb}`, {
    ...body,
    fencing_token: token ?? '0',
  });
}

async function claim(
  board: Holder,
  wanted: { readonly job_id?: string; readonly queue?: string },
): Promise<Claimed['job']> {
  const { job } = await board.api.send<Claimed>('POST', '/v1/escalations/claims', {
    ...wanted,
    claim_id: board.newClaimId(),
    lease_seconds: HOLD_SECONDS,
  });
  return job;
}
