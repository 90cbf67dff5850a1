import { useEffect, useRef, useState } from 'hono/jsx/dom';
import type { Child } from 'hono/jsx/dom';

import { askAssign, askCancel, askDiscard, askRedrive, askRunNow } from './actions.ts';
import { EscalationActions } from './escalation-actions.tsx';
import { EventLine } from './event-line.tsx';
import { duration, plural, secondsSince, sentence, span, words } from './format.ts';
import { useBoard, useCell, useChanges, useLoaded } from './hooks.ts';
import {
  Ago,
  Code,
  CopyButton,
  Empty,
  endedWhy,
  errorText,
  Failure,
  Link,
  Loading,
  Moment,
  PageTitle,
  StateBadge,
} from './parts.tsx';
import { Problem } from './problem.ts';
import { pathTo, queuePath } from './router.ts';
import type { BoardEvent, Job, JobAttempt } from './wire.ts';

export function JobView({ id }: { readonly id: string }) {
  const {
    value: job,
    error,
    reload,
    replace,
  } = useLoaded<Job>(`/v1/jobs/${encodeURIComponent(id)}`);
  const { memory } = useBoard();
  const mark = useRef(memory.mark());
  // What the stream tells is shown at once; the attempts and effects behind it are read when one may have ended.
  useChanges(({ jobs, events }) => {
    const told = jobs.find((one) => one.id === id);
    if (told === undefined || job === undefined) return;
    mark.current = memory.mark();
    replace({ ...job, ...told });
    if (events.some((event) => event.job_id === id && !QUIET.has(event.type))) reload();
  });
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

/** The one thing about the job that matters most at this moment. */
function Now({ job }: { readonly job: Job }) {
  if (job.lease !== null) return <Running job={job} lease={job.lease} />;
  const ended = job.escalated ?? job.dead;
  if (ended !== null) {
    const asked = ended.reason === 'asked_for_human';
    return (
      <section class={`now now-${job.state}`} aria-label="Now">
        <p class="now-head">
          {asked ? 'A person is asked' : sentence(ended.reason)} · <Ago at={ended.since} />
        </p>
        <p class="error-text">{endedWhy(ended)}</p>
        {ended.owner === null ? null : <p class="quiet">Looked after by {ended.owner}</p>}
        {ended.note === null || ended.note === '' ? null : <p class="note">{ended.note}</p>}
      </section>
    );
  }
  if (job.state === 'pending') {
    return (
      <section class="now" aria-label="Now">
        <p class="now-head">
          {job.waiting_for === 'ordering_key'
            ? 'Waits for the jobs before it of the same ordering key'
            : job.waiting_for === 'pause'
              ? 'Its queue is paused'
              : job.waiting_for === 'time'
                ? 'Waits for its time'
                : 'Ready to be claimed'}{' '}
          · due <Ago at={job.due_at} />
        </p>
        <NoteToHolder job={job} />
      </section>
    );
  }
  return (
    <section class={`now now-${job.state}`} aria-label="Now">
      <p class="now-head">
        {job.state === 'succeeded' ? 'Succeeded' : 'Cancelled'}
        {job.finished_at === null ? null : (
          <>
            {' '}
            <Ago at={job.finished_at} />
          </>
        )}
        {job.finished_by === null ? '' : ` by ${job.finished_by}`}
      </p>
      {job.reason === null ? null : <p>{job.reason}</p>}
    </section>
  );
}

/** What a person wrote when they sent the job back. */
function NoteToHolder({ job }: { readonly job: Job }) {
  if (job.note === null || job.note === '') return null;
  return (
    <p class="note">
      <span class="strong">Note for the holder:</span> {job.note}
    </p>
  );
}

function Running({ job, lease }: { readonly job: Job; readonly lease: NonNullable<Job['lease']> }) {
  const now = useCell(useBoard().clock);
  const left = -secondsSince(lease.expires_at, now);
  return (
    <section class="now now-running" aria-label="Now">
      <p class="now-head">
        <span class="pulse" aria-hidden="true" /> Attempt {job.attempt} runs at {lease.owner}
      </p>
      <p class="progress" data-test="progress">
        {lease.progress ?? 'No progress reported yet'}
      </p>
      <p class="quiet">
        {left > 0 ? `Lease ends in ${span(left)} unless it is renewed` : 'Lease has run out'}
        {job.cancel_requested === null
          ? ''
          : ` · asked to stop by ${job.cancel_requested.by}${
              job.cancel_requested.reason === null ? '' : `: ${job.cancel_requested.reason}`
            }`}
      </p>
      <NoteToHolder job={job} />
    </section>
  );
}

function Attempts({ attempts }: { readonly attempts: readonly JobAttempt[] }) {
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

const PAGE = 200;

interface History {
  readonly events: readonly BoardEvent[];
  readonly next_after: string | null;
}

function Timeline({ id }: { readonly id: string }) {
  const { api } = useBoard();
  const first = useLoaded<History>(`/v1/jobs/${encodeURIComponent(id)}/events?limit=${PAGE}`);
  const [told, setTold] = useState<readonly BoardEvent[]>([]);
  const [after, setAfter] = useState<string | null>(null);
  const [quiet, setQuiet] = useState(false);
  useEffect(() => setAfter(first.value?.next_after ?? null), [first.value]);
  useChanges(({ events }) => {
    const ours = events.filter((event) => event.job_id === id);
    if (ours.length > 0) setTold((was) => [...was, ...ours]);
  });
  const all = new Map([...(first.value?.events ?? []), ...told].map((event) => [event.id, event]));
  const events = [...all.values()].toSorted((left, right) => sequence(left) - sequence(right));
  const heartbeats = events.filter(({ type }) => type === 'heartbeat').length;
  const shown = quiet ? events : events.filter(({ type }) => type !== 'heartbeat');
  return (
    <section class="panel" aria-labelledby="timeline">
      <div class="panel-head">
        <h2 id="timeline">Timeline</h2>
        {heartbeats === 0 ? null : (
          <button
            type="button"
            class="link"
            aria-pressed={quiet ? 'true' : 'false'}
            onClick={() => setQuiet(!quiet)}
          >
            {quiet ? 'Hide' : 'Show'} {plural(heartbeats, 'heartbeat')}
          </button>
        )}
      </div>
      {first.error === undefined ? null : <Failure error={first.error} retry={first.reload} />}
      <ol class="events timeline">
        {shown.toReversed().map((event) => (
          <EventLine key={event.id} event={event} withoutJob />
        ))}
      </ol>
      {after === null ? null : (
        <button
          type="button"
          class="button"
          onClick={() => {
            void api
              .get<History>(
                `/v1/jobs/${encodeURIComponent(id)}/events?limit=${PAGE}&after=${after}`,
              )
              .then((page) => {
                setTold((was) => [...was, ...page.events]);
                setAfter(page.next_after);
              });
          }}
        >
          Load later events
        </button>
      )}
    </section>
  );
}

function sequence({ id }: BoardEvent): number {
  return Number(id.slice(1));
}

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

/** What may be private is drawn when somebody asks for it, and not before. */
function Hidden({ title, value }: { readonly title: string; readonly value: unknown }) {
  const [shown, setShown] = useState(false);
  const id = `hidden-${title.toLowerCase()}`;
  return (
    <section class="panel" aria-labelledby={id}>
      <div class="panel-head">
        <h2 id={id}>{title}</h2>
        <button
          type="button"
          class="button small"
          aria-expanded={shown ? 'true' : 'false'}
          onClick={() => setShown(!shown)}
        >
          {shown ? 'Hide' : 'Show'} {title.toLowerCase()}
        </button>
      </div>
      {shown ? <Code value={value} /> : <p class="quiet">Hidden, as it may hold personal data.</p>}
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

function Details({ title, value }: { readonly title: string; readonly value: unknown }) {
  return (
    <details>
      <summary>{title}</summary>
      <Code value={value} />
    </details>
  );
}
