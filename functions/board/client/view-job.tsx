import type { Child } from 'hono/jsx/dom';
import { useState } from 'hono/jsx/dom';

import { askAssign, askCancel, askDiscard, askRedrive, askRunNow } from './actions.ts';
import { EscalationActions } from './escalation-actions.tsx';
import { words } from './format.ts';
import { Hidden } from './hidden-value.tsx';
import { useBoard, useCell, useChanges, useLoaded } from './hooks.ts';
import { Attempts } from './job-attempts.tsx';
import { Now } from './job-now.tsx';
import { Timeline } from './job-timeline.tsx';
import {
  CopyButton,
  Empty,
  Failure,
  Link,
  Loading,
  Moment,
  PageTitle,
  StateBadge,
} from './parts.tsx';
import { Problem } from './problem.ts';
import { pathTo, queuePath } from './router.ts';
import type { Job, JobSummary } from './wire.ts';

export function JobView({ id }: { readonly id: string }) {
  const { generation } = useBoard();
  const era = useCell(generation);
  const { value, error, reload } = useLoaded<Job>(`/v1/jobs/${encodeURIComponent(id)}`);
  const [told, setTold] = useState<{ readonly job: JobSummary; readonly era: number } | undefined>(
    undefined,
  );
  // What the stream tells is shown at once, over answers that may be older; the attempts and effects behind it are read when
  // one may have ended.
  useChanges(({ jobs, events }) => {
    const changed = jobs.find((one) => one.id === id);
    if (changed === undefined) return;
    setTold({ job: changed, era });
    if (events.some((event) => event.job_id === id && !QUIET.has(event.type))) reload();
  });
  const job =
    value === undefined ? undefined : told?.era === era ? { ...value, ...told.job } : value;
  if (error instanceof Problem && (error.status === 404 || error.status === 400)) {
    return (
      <>
        <PageTitle>Job</PageTitle>
        <Empty title="No job has this id">
          It may be gone with its retention, or belong to a queue that you may not see.{' '}
          <Link to={pathTo('jobs')}>All jobs</Link>
        </Empty>
      </>
    );
  }
  if (job === undefined) {
    return (
      <>
        <PageTitle>Job</PageTitle>
        {error === undefined ? <Loading /> : <Failure error={error} retry={reload} />}
      </>
    );
  }
  return (
    <>
      <p class="crumbs">
        <Link to={pathTo('jobs')}>Jobs</Link> <span aria-hidden="true">›</span>{' '}
        <Link to={queuePath(job.queue)}>{job.queue}</Link>
      </p>
      <PageTitle actions={<JobActions job={job} />}>
        {job.type} <StateBadge state={job.state} />
      </PageTitle>
      <Now job={job} />
      <div class="columns">
        <div>
          <Attempts attempts={job.attempts} />
          <Timeline id={id} />
        </div>
        <div>
          <Facts job={job} />
          <Hidden title="Payload" value={job.payload} />
          {job.state === 'succeeded' ? <Result job={job} /> : null}
          {Object.keys(job.headers).length > 0 ? (
            <Hidden title="Headers" value={job.headers} />
          ) : null}
          <Effects job={job} />
        </div>
      </div>
    </>
  );
}

/** Events that change nothing but what the summary already has. */
const QUIET = new Set(['heartbeat', 'progressed', 'unparked', 'created', 'claimed', 'noted']);

function JobActions({ job }: { readonly job: Job }) {
  const board = useBoard();
  if (job.state === 'escalated') return <EscalationActions job={job} />;
  if (!board.may('operate')) return null;
  const waitsForTime = job.state === 'pending' && job.waiting_for === 'time';
  return (
    <>
      {waitsForTime ? (
        <button type="button" class="button" onClick={() => askRunNow(board, job)}>
          Make due now
        </button>
      ) : null}
      {(job.state === 'pending' || job.state === 'running') && job.cancel_requested === null ? (
        <button type="button" class="button" onClick={() => askCancel(board, job)}>
          Cancel
        </button>
      ) : null}
      {job.dead === null ? null : (
        <>
          <button
            type="button"
            class="button"
            onClick={() => askAssign(board, job, job.dead ?? NOBODY)}
          >
            Assign
          </button>
          <button type="button" class="button" onClick={() => askDiscard(board, [job])}>
            Discard
          </button>
          <button type="button" class="button primary" onClick={() => askRedrive(board, [job])}>
            Redrive
          </button>
        </>
      )}
    </>
  );
}

const NOBODY = { owner: null, note: null };

function Facts({ job }: { readonly job: Job }) {
  const rows: readonly (readonly [string, Child])[] = [
    [
      'Id',
      <>
        <span class="mono">{job.id}</span> <CopyButton text={job.id} label="Copy the job id" />
      </>,
    ],
    ['Queue', <Link to={queuePath(job.queue)}>{job.queue}</Link>],
    [
      'Attempts',
      `${job.attempt} of ${job.max_attempts}${job.redrives ? `, redriven ${job.redrives}×` : ''}`,
    ],
    ['Priority', job.priority],
    [
      'Created',
      <>
        <Moment at={job.created_at} /> by {job.created_by}
      </>,
    ],
    ['Ordering key', job.ordering_key],
    ['Dedup key', job.dedup_key],
    ['Tags', job.tags.length === 0 ? null : job.tags.join(', ')],
  ];
  return (
    <section class="panel" aria-label="About the job">
      <dl class="facts">
        {rows.map(([name, value]) =>
          value === null ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
        )}
      </dl>
    </section>
  );
}

function Result({ job }: { readonly job: Job }) {
  if (job.result_problem === null) return <Hidden title="Result" value={job.result} />;
  return (
    <section class="panel">
      <h2>Result</h2>
      <p class="quiet">Not kept: {words(job.result_problem)}</p>
    </section>
  );
}

function Effects({ job }: { readonly job: Job }) {
  if (job.effects.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="effects">
      <h2 id="effects">Effects</h2>
      <ul class="plain">
        {job.effects.map((effect) => (
          <li key={effect.key}>
            <span class={`badge is-${effect.state}`}>{words(effect.state)}</span>{' '}
            <span class="mono">{effect.key}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
