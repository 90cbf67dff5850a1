/** What a person is asked before an escalated job that they hold is settled. */
import { given, nameOfJob } from './actions.ts';
import type { Board } from './board-state.ts';
import { settle } from './hold-calls.ts';
import type { JobSummary } from './wire.ts';

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

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
