import { useMemo, useState } from 'hono/jsx/dom';

import { askAssign, askDiscard, askMatching, askRedrive } from './actions.ts';
import { plural, sentence, shortId } from './format.ts';
import { useBoard, useJobList } from './hooks.ts';
import { waitingJobs } from './job-list.ts';
import { Ago, Empty, errorText, Link, ListNotice, PageTitle } from './parts.tsx';
import { describe } from './problem.ts';
import { jobPath, pathTo, withQuery } from './router.ts';
import { QueueSelect } from './view-jobs.tsx';
import { VirtualGrid } from './virtual-grid.tsx';
import type { JobSummary } from './wire.ts';

const COLUMNS = [
  { name: 'Chosen', class: 'c-check' },
  { name: 'Job', class: 'c-job' },
  { name: 'Why', class: 'c-why' },
  { name: 'Dead for', class: 'c-age' },
  { name: 'Looked after by', class: 'c-owner' },
];

export function DeadView({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const board = useBoard();
  const { queue } = query;
  const kind = useMemo(() => waitingJobs((job) => job.dead?.since, queue), [queue]);
  const path = withQuery('/v1/dead-letters', { queue, limit: '200' });
  const { list, loading, error, loadMore, reload } = useJobList(path, kind);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const mayOperate = board.may('operate');
  const jobs = list.rows.filter(({ id }) => chosen.has(id));
  const toggle = (job: JobSummary): void => {
    const next = new Set(chosen);
    if (!next.delete(job.id)) next.add(job.id);
    setChosen(next);
  };
  const none = (): void => setChosen(new Set());
  const settleAll = (verb: 'redrive' | 'discard'): void => {
    if (queue === undefined) return;
    askMatching(board, verb, { queue }).catch((failure: unknown) =>
      board.notify(describe(failure).what, true),
    );
  };
  const cells = (job: JobSummary) => [
    mayOperate ? (
      <input
        type="checkbox"
        class="check"
        aria-label={`Choose ${job.type} ${shortId(job.id)}`}
        checked={chosen.has(job.id)}
        tabindex={-1}
        onChange={() => toggle(job)}
      />
    ) : null,
    <span class="clip">
      <Link to={jobPath(job.id)} class="row-name" tabindex={-1}>
        {job.type}
      </Link>{' '}
      <span class="quiet">
        {job.queue} · <span class="mono">{shortId(job.id)}</span>
      </span>
    </span>,
    <span class="clip">
      <span class="strong">{sentence(job.dead?.reason ?? '')}</span>{' '}
      <span class="quiet">{errorText(job.dead?.error)}</span>
    </span>,
    job.dead === null ? '' : <Ago at={job.dead.since} plain />,
    <span class="clip">{job.dead?.owner ?? <span class="quiet">nobody</span>}</span>,
  ];
  return (
    <>
      <PageTitle>Dead letters</PageTitle>
      <div class="filters">
        <QueueSelect
          queue={queue}
          change={(next) => {
            none();
            board.go(pathTo('dead', { ...query, ...next }), 'replace');
          }}
        />
        {mayOperate && queue !== undefined && list.rows.length > 0 ? (
          <>
            <button type="button" class="button" onClick={() => settleAll('redrive')}>
              Redrive all of {queue}
            </button>
            <button type="button" class="button" onClick={() => settleAll('discard')}>
              Discard all of {queue}
            </button>
          </>
        ) : null}
      </div>
      <ListNotice isEmpty={list.rows.length === 0} loading={loading} error={error} retry={reload}>
        <Empty title="Nothing is dead">
          Jobs that are out of attempts, or failed for good, wait here.
        </Empty>
      </ListNotice>
      {list.rows.length > 0 ? (
        <VirtualGrid
          label="Dead jobs, the oldest first"
          columns={COLUMNS}
          rows={list.rows}
          more={list.next !== null}
          loadMore={loadMore}
          open={(job) => board.go(jobPath(job.id))}
          cells={cells}
          rowClass={(job) => (chosen.has(job.id) ? 'is-chosen' : '')}
          {...(mayOperate ? { toggle } : {})}
        />
      ) : null}
      {jobs.length > 0 ? (
        <div class="bar" role="region" aria-label="Chosen jobs">
          <span class="strong">{plural(jobs.length, 'job')} chosen</span>
          <span class="actions">
            <button type="button" class="button" onClick={none}>
              None
            </button>
            {jobs.length === 1 && jobs[0] !== undefined ? (
              <button
                type="button"
                class="button"
                onClick={() =>
                  jobs[0] !== undefined && askAssign(board, jobs[0], jobs[0].dead ?? NOBODY)
                }
              >
                Assign
              </button>
            ) : null}
            <button type="button" class="button" onClick={() => askDiscard(board, jobs, none)}>
              Discard
            </button>
            <button
              type="button"
              class="button primary"
              onClick={() => askRedrive(board, jobs, none)}
            >
              Redrive
            </button>
          </span>
        </div>
      ) : null}
    </>
  );
}

const NOBODY = { owner: null, note: null };
