import { useMemo } from 'hono/jsx/dom';

import { EscalationActions } from './escalation-actions.tsx';
import { sentence, shortId } from './format.ts';
import { useBoard, useCell, useJobList } from './hooks.ts';
import { takeJob } from './hold-calls.ts';
import { waitingJobs } from './job-list.ts';
import { Ago, Empty, endedWhy, Link, ListNotice, PageTitle } from './parts.tsx';
import { describe } from './problem.ts';
import { jobPath, pathTo, withQuery } from './router.ts';
import { QueueSelect } from './view-jobs.tsx';
import type { JobSummary } from './wire.ts';

export function EscalationsView({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const board = useBoard();
  const { queue } = query;
  const kind = useMemo(() => waitingJobs((job) => job.escalated?.since, queue), [queue]);
  const path = withQuery('/v1/escalations', { queue, limit: '50' });
  const { list, loading, error, loadMore, reload } = useJobList(path, kind);
  const takeNext = (): void => {
    takeJob(board, queue === undefined ? {} : { queue }).then(
      (id) => {
        if (id === undefined) board.notify('Nothing is free to take.');
        else board.go(jobPath(id));
      },
      (failure: unknown) => board.notify(describe(failure).what, true),
    );
  };
  return (
    <>
      <PageTitle
        actions={
          board.may('human') && list.rows.length > 0 ? (
            <button type="button" class="button primary" onClick={takeNext}>
              Take the oldest
            </button>
          ) : null
        }
      >
        For people
      </PageTitle>
      <div class="filters">
        <QueueSelect
          queue={queue}
          change={(next) => board.go(pathTo('escalations', { ...query, ...next }), 'replace')}
        />
      </div>
      <ListNotice isEmpty={list.rows.length === 0} loading={loading} error={error} retry={reload}>
        <Empty title="Nothing waits for a person">
          A job comes here when its agents are out of attempts, or when one of them asks.
        </Empty>
      </ListNotice>
      <ul class="cards">
        {list.rows.map((job) => (
          <EscalationCard key={job.id} job={job} />
        ))}
      </ul>
      {list.next === null ? null : (
        <button type="button" class="button more" onClick={loadMore}>
          Load more
        </button>
      )}
    </>
  );
}

function EscalationCard({ job }: { readonly job: JobSummary }) {
  const { session, clock } = useBoard();
  const now = useCell(clock);
  const escalation = job.escalated;
  if (escalation === null) return null;
  const asked = escalation.reason === 'asked_for_human';
  const held =
    escalation.held_until !== null && Date.parse(escalation.held_until) > now ? escalation : null;
  return (
    <li class="card">
      <div class="card-head">
        <Link to={jobPath(job.id)} class="row-name">
          {job.type} <span class="mono">{shortId(job.id)}</span>
        </Link>
        <span class="quiet">{job.queue}</span>
        <span class="card-age">
          waits <Ago at={escalation.since} plain />
        </span>
      </div>
      <p class="card-why">
        <span class="badge is-escalated">{asked ? 'Question' : sentence(escalation.reason)}</span>{' '}
        {endedWhy(escalation)}
      </p>
      {escalation.note === null || escalation.note === '' ? null : (
        <p class="note">{escalation.note}</p>
      )}
      <div class="card-foot">
        <span class="quiet">
          {held === null
            ? 'Free to take'
            : held.held_by === session.actor
              ? 'You have it'
              : `${held.held_by ?? ''} has it`}
          {escalation.owner === null ? '' : ` · looked after by ${escalation.owner}`}
        </span>
        <span class="actions">
          <EscalationActions job={job} />
        </span>
      </div>
    </li>
  );
}
