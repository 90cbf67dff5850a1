import { nameOfJob } from './actions.ts';
import type { Board } from './board-state.ts';
import { words } from './format.ts';
import { useBoard } from './hooks.ts';
import { jsonOrText } from './human-hold.ts';
import type { Job, JobEffect } from './wire.ts';

/** What the attempts of a job did outside the database; a person settles what nobody knows the end of. */
export function Effects({ job, done }: { readonly job: Job; readonly done: () => void }) {
  const board = useBoard();
  if (job.effects.length === 0) return null;
  const waits = job.state === 'dead' || job.state === 'escalated';
  return (
    <section class="panel" aria-labelledby="effects">
      <h2 id="effects">Effects</h2>
      <ul class="plain">
        {job.effects.map((effect) => (
          <li key={effect.key}>
            <span class={`badge is-${effect.state}`}>{words(effect.state)}</span>{' '}
            <span class="mono">{effect.key}</span>
            {effect.settled_by === null ? null : (
              <span class="quiet"> · settled by {effect.settled_by}</span>
            )}
            {waits && isOpen(effect) && board.may('operate') ? (
              <span class="actions">
                <button
                  type="button"
                  class="button"
                  onClick={() => askSettleEffect(board, job, effect, 'not_done', done)}
                >
                  It was not done
                </button>
                <button
                  type="button"
                  class="button"
                  onClick={() => askSettleEffect(board, job, effect, 'done', done)}
                >
                  It was done
                </button>
              </span>
            ) : null}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** It was begun, and nobody has said how it ended. */
function isOpen({ state }: JobEffect): boolean {
  return state === 'uncertain' || state === 'started';
}

function askSettleEffect(
  board: Board,
  job: Job,
  { key }: JobEffect,
  state: 'done' | 'not_done',
  done: () => void,
): void {
  const wasDone = state === 'done';
  board.asked.set({
    title: wasDone ? `“${key}” was done?` : `“${key}” was not done?`,
    effect: wasDone
      ? `An attempt of ${nameOfJob(job)} that runs after this does not do it again. Look first where it would show.`
      : `An attempt of ${nameOfJob(job)} that runs after this does it. Look first where it would show: else it happens twice.`,
    confirm: wasDone ? 'It was done' : 'It was not done',
    danger: !wasDone,
    ...(wasDone
      ? {
          fields: [
            {
              name: 'result',
              label: 'Result',
              lines: 2,
              max: 60_000,
              hint: 'JSON or plain text, for the attempt that needs it. Empty: none.',
            },
          ],
        }
      : {}),
    async run({ result }) {
      await board.api.send(
        'POST',
        `/v1/dead-letters/${job.id}/effects/${encodeURIComponent(key)}`,
        { state, ...(result ? { result: jsonOrText(result) } : {}) },
      );
      done();
      return `${key} is settled: ${words(state)}.`;
    },
  });
}
