/**
 * Jobs that this person holds. What the board shows of a job says who holds it and under which token, so nothing is kept
 * here: a hold that was taken in another window, or anew after it had run out, is settled as any.
 */
import { given, nameOfJob } from './actions.ts';
import type { Board } from './board-state.ts';
import type { JobSummary } from './wire.ts';

/** What this needs of the board. */
type Holder = Pick<Board, 'newClaimId'> & {
  readonly api: Pick<Board['api'], 'send'>;
  readonly session: Pick<Board['session'], 'actor'>;
};

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

export async function giveBack(board: Board, job: JobSummary): Promise<void> {
  await settle(board, job, 'release', {});
}

export function askComplete(board: Board, job: JobSummary): void {
  board.asked.set({
    title: `Complete ${nameOfJob(job)}?`,
    effect: 'You have done the work: the job ends as succeeded, by you, and does not run again.',
    confirm: 'Complete the job',
    fields: [
      { name: 'note', label: 'What you did', lines: 3, max: 4000, hint: 'Kept in its history.' },
      {
        name: 'result',
        label: 'Result',
        lines: 2,
        max: 100_000,
        hint: 'JSON or plain text, for whoever reads the job.',
      },
    ],
    async run({ note, result }) {
      await settle(board, job, 'complete', {
        ...given({ note }),
        ...(result === undefined || result === '' ? {} : { result: jsonOrText(result) }),
      });
      return 'The job is complete.';
    },
  });
}

export function askSendBack(board: Board, job: JobSummary): void {
  board.asked.set({
    title: `Send ${nameOfJob(job)} back?`,
    effect: `It goes back to “${job.queue}” with fresh attempts. Whoever claims it next gets your note with it.`,
    confirm: 'Send it back',
    fields: [
      {
        name: 'note',
        label: 'Note for the next holder',
        required: true,
        lines: 4,
        max: 4000,
        hint: 'Agents read it: say what to do differently.',
      },
    ],
    async run({ note }) {
      await settle(board, job, 'send-back', { note });
      return 'The job is on its way back.';
    },
  });
}

export function askGiveUp(board: Board, job: JobSummary): void {
  board.asked.set({
    title: `Discard ${nameOfJob(job)}?`,
    effect:
      'It is given up for good: it ends as cancelled and does not run again. The history stays.',
    confirm: 'Discard the job',
    danger: true,
    fields: [{ name: 'reason', label: 'Reason', required: true, lines: 2, max: 1000 }],
    async run({ reason }) {
      await settle(board, job, 'discard', { reason });
      return 'The job is discarded.';
    },
  });
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

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
