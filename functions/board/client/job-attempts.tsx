import { duration, sentence, words } from './format.ts';
import { Ago, Code, errorText, Moment } from './parts.tsx';
import type { JobAttempt } from './wire.ts';

/** The attempts of a job that have ended, the newest first. */
export function Attempts({ attempts }: { readonly attempts: readonly JobAttempt[] }) {
  return (
    <section class="panel" aria-labelledby="attempts">
      <h2 id="attempts">Attempts</h2>
      {attempts.length === 0 ? <p class="quiet">No attempt has ended yet.</p> : null}
      <ol class="attempts">
        {attempts.toReversed().map((attempt) => (
          <li key={attempt.fencing_token} class={`attempt outcome-${attempt.outcome}`}>
            <p class="attempt-head">
              <span class="strong">
                {attempt.attempt}. {sentence(attempt.outcome)}
              </span>
              <span class="quiet">
                {attempt.owner} · {duration(attempt.started_at, attempt.ended_at)} ·{' '}
                <Moment at={attempt.ended_at} />
              </span>
            </p>
            {attempt.error === null ? null : (
              <>
                <p class="error-text">{errorText(attempt.error)}</p>
                <p class="quiet">
                  {attempt.failure_class === null ? '' : `${attempt.failure_class} failure · `}
                  {attempt.retry_at === null ? (
                    `then ${words(attempt.next_state)}`
                  ) : (
                    <>
                      tried again <Ago at={attempt.retry_at} />
                    </>
                  )}
                </p>
                <Details title="Diagnostics" value={attempt.error} />
              </>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

function Details({ title, value }: { readonly title: string; readonly value: unknown }) {
  return (
    <details>
      <summary>{title}</summary>
      <Code value={value} />
    </details>
  );
}
