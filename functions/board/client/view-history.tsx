import { useState } from 'hono/jsx/dom';

import { clockTime, localInput, sentence, shortId, wholeNumber } from './format.ts';
import { useBoard, useLoaded } from './hooks.ts';
import { Empty, Failure, Link, Loading, PageTitle, StateBadge, stateWord } from './parts.tsx';
import { jobPath, pathTo, withQuery } from './router.ts';
import { QueueSelect } from './view-jobs.tsx';
import type { PastBoard } from './wire.ts';

const HOUR_MS = 60 * 60 * 1000;
const STEPS = [
  ['A minute ago', HOUR_MS / 60],
  ['An hour ago', HOUR_MS],
  ['A day ago', 24 * HOUR_MS],
] as const;

/** The board as it was at a chosen moment, out of the event log. */
export function HistoryView({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const board = useBoard();
  const { at, queue, state } = query;
  const change = (next: Readonly<Record<string, string | undefined>>): void =>
    board.go(pathTo('history', { ...query, ...next }), 'replace');
  const now = board.clock.get();
  const choose = (ms: number): void => change({ at: new Date(ms).toISOString() });
  return (
    <>
      <PageTitle>The board at a past moment</PageTitle>
      <div class="filters">
        <label class="labelled">
          Moment
          <input
            type="datetime-local"
            class="input"
            step={1}
            max={localInput(now)}
            value={localInput(at === undefined ? now : Date.parse(at))}
            onChange={(event: Event) => {
              const chosen = new Date((event.target as HTMLInputElement).value).getTime();
              if (!Number.isNaN(chosen)) choose(chosen);
            }}
          />
        </label>
        <QueueSelect queue={queue} change={change} />
        <StateSelect state={state} change={change} />
        {STEPS.map(([name, ms]) => (
          <button
            key={name}
            type="button"
            class="button"
            onClick={() => choose(board.clock.get() - ms)}
          >
            {name}
          </button>
        ))}
      </div>
      {at === undefined ? (
        <Empty title="Choose a moment">
          You see each job as it was then: the log keeps every transition.
        </Empty>
      ) : (
        <Past key={JSON.stringify(query)} at={at} queue={queue} state={state} />
      )}
    </>
  );
}

const STATES = ['pending', 'running', 'escalated', 'dead', 'succeeded', 'cancelled'];

function StateSelect(props: {
  readonly state: string | undefined;
  readonly change: (next: Readonly<Record<string, string | undefined>>) => void;
}) {
  return (
    <label class="select">
      <span class="unseen">State</span>
      <select
        value={props.state ?? ''}
        onChange={(event: Event) =>
          props.change({ state: (event.target as HTMLSelectElement).value || undefined })
        }
      >
        <option value="">All states</option>
        {STATES.map((name) => (
          <option key={name} value={name}>
            {stateWord(name)}
          </option>
        ))}
      </select>
    </label>
  );
}

function Past(filter: {
  readonly at: string;
  readonly queue: string | undefined;
  readonly state: string | undefined;
}) {
  const { api, clock } = useBoard();
  const path = withQuery('/v1/board', {
    at: filter.at,
    queue: filter.queue,
    state: filter.state,
    limit: '100',
  });
  const { value, error, reload } = useLoaded<PastBoard>(path);
  const [older, setOlder] = useState<readonly PastBoard[]>([]);
  const [failure, setFailure] = useState<unknown>(undefined);
  if (error !== undefined) return <Failure error={error} retry={reload} />;
  if (value === undefined) return <Loading />;
  const pages = [value, ...older];
  const jobs = pages.flatMap((page) => page.jobs);
  const next = pages.at(-1)?.next_before ?? null;
  const more = (): void => {
    if (next === null) return;
    api
      .get<PastBoard>(`${path}&before=${encodeURIComponent(next)}`)
      .then((page) => setOlder((was) => [...was, page]), setFailure);
  };
  return (
    <>
      <p class="banner" role="status">
        As it was at <strong>{clockTime(filter.at, clock.get())}</strong>. Nothing here moves.
      </p>
      <Then first={value} />
      {jobs.length === 0 && next === null ? (
        <Empty title="No jobs at that moment">None had been made, or none fits the filters.</Empty>
      ) : null}
      {jobs.length === 0 ? null : (
        <table class="table stack">
          <caption class="unseen">Jobs as they were</caption>
          <thead>
            <tr>
              <th scope="col">Job</th>
              <th scope="col">State then</th>
              <th scope="col">Attempt</th>
              <th scope="col">Held by, or why</th>
            </tr>
          </thead>
          <tbody>
            {jobs.map((job) => (
              <tr key={job.id}>
                <th scope="row">
                  <Link to={jobPath(job.id)} class="row-name">
                    {job.type}
                  </Link>{' '}
                  <span class="quiet">
                    {job.queue} · <span class="mono">{shortId(job.id)}</span>
                  </span>
                </th>
                <td data-label="State then">
                  <StateBadge state={job.state} />
                </td>
                <td data-label="Attempt">{job.attempt}</td>
                <td data-label="Held by">
                  {job.owner === null ? sentence(job.reason ?? '') : job.owner}
                  {job.progress === null ? '' : ` · ${job.progress}`}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {failure === undefined ? null : <Failure error={failure} retry={more} />}
      {next === null ? null : (
        <button type="button" class="button more" onClick={more}>
          Load more
        </button>
      )}
    </>
  );
}

/** How many jobs were in each state, and which queues were paused. */
function Then({ first }: { readonly first: PastBoard }) {
  const counts = STATES.flatMap((state) => {
    const count = first.counts?.[state as keyof typeof first.counts] ?? 0;
    return count === 0 ? [] : [`${wholeNumber(count)} ${stateWord(state).toLowerCase()}`];
  });
  const paused = (first.queues ?? []).filter((queue) => queue.paused !== null);
  return (
    <p class="then">
      {counts.length === 0
        ? ''
        : `${counts.join(' · ')}${first.capped === true ? ', among the newest 2,000 jobs' : ''}. `}
      {paused
        .map(
          (queue) =>
            `${queue.name} was paused${queue.paused?.reason ? `: ${queue.paused.reason}` : ''}. `,
        )
        .join('')}
    </p>
  );
}
