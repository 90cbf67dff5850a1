import { askAssign } from './actions.ts';
import { useBoard, useCell } from './hooks.ts';
import { takeJob } from './hold-calls.ts';
import { askComplete, askGiveUp, askSendBack, giveBack } from './human-hold.ts';
import { describe } from './problem.ts';
import type { JobSummary } from './wire.ts';

/** What this person may do with an escalated job: take it, or settle the one that they hold. */
export function EscalationActions({ job }: { readonly job: JobSummary }) {
  const board = useBoard();
  const now = useCell(board.clock);
  const escalation = job.escalated;
  const isHeld =
    escalation !== null &&
    escalation.held_until !== null &&
    Date.parse(escalation.held_until) > now;
  const mine = isHeld && escalation.held_by === board.session.actor;
  const attempt = (work: Promise<string>): void => {
    work.then(
      (said) => board.notify(said),
      (error: unknown) => board.notify(describe(error).what, true),
    );
  };
  const take = async (): Promise<string> => {
    const id = await takeJob(board, { job_id: job.id });
    return id === undefined
      ? 'Somebody else has it, or it is settled.'
      : 'You have the job for an hour.';
  };
  const release = async (): Promise<string> => {
    await giveBack(board, job);
    return 'The job waits for somebody else.';
  };
  const assign = board.may('operate') ? (
    <button
      type="button"
      class="button"
      onClick={() => askAssign(board, job, escalation ?? NOBODY)}
    >
      Assign
    </button>
  ) : null;
  if (!board.may('human')) return assign;
  if (!isHeld) {
    return (
      <>
        {assign}
        <button type="button" class="button primary" onClick={() => attempt(take())}>
          Take it
        </button>
      </>
    );
  }
  if (!mine) return assign;
  return (
    <>
      <button type="button" class="button" onClick={() => attempt(release())}>
        Give back
      </button>
      <button type="button" class="button" onClick={() => askGiveUp(board, job)}>
        Discard
      </button>
      <button type="button" class="button" onClick={() => askSendBack(board, job)}>
        Send back
      </button>
      <button type="button" class="button primary" onClick={() => askComplete(board, job)}>
        Complete
      </button>
    </>
  );
}

const NOBODY = { owner: null, note: null };
