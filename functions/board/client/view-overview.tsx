import { askPause, askResume } from './actions.ts';
import { EventLine } from './event-line.tsx';
import { counted, span, secondsSince } from './format.ts';
import { byAge, healthOf, oldest, total, type Health } from './health.ts';
import { useBoard, useCell } from './hooks.ts';
import { Ago, Empty, Link, Loading, PageTitle } from './parts.tsx';
import { pathTo, queuePath } from './router.ts';
import { Spark } from './spark.tsx';
import type { Count, QueueHealth } from './wire.ts';

const HEALTH_WORDS: Readonly<Record<Health, string>> = {
  well: 'On time',
  waiting: 'Waiting',
  late: 'Late',
  idle: 'Idle',
  paused: 'Paused',
};
const LATEST_EVENTS = 12;

export function OverviewView() {
  const { overview } = useBoard();
  const seen = useCell(overview);
  return (
    <>
      <PageTitle>Overview</PageTitle>
      {seen === undefined ? <Loading /> : null}
      {seen !== undefined && seen.queues.length === 0 ? (
        <Empty title="No queues yet">
          A queue appears with its first job, or when it is configured.
        </Empty>
      ) : null}
      {seen !== undefined && seen.queues.length > 0 ? (
        <>
          <Totals queues={seen.queues} />
          <QueueTable queues={seen.queues.toSorted(byAge)} />
          {seen.left_out > 0 ? (
            <p class="quiet">{seen.left_out} more queues are not shown.</p>
          ) : null}
        </>
      ) : null}
      <Latest />
    </>
  );
}

function Totals({ queues }: { readonly queues: readonly QueueHealth[] }) {
  const oldestDue = oldest(
    queues.filter(({ paused }) => paused === null).map((queue) => queue.oldest_due_at),
  );
  const escalated = total(queues, (queue) => queue.escalated);
  const dead = total(queues, (queue) => queue.dead);
  return (
    <dl class="totals">
      <div class="total total-main">
        <dt>Oldest due job</dt>
        <dd>{oldestDue === null ? 'none waits' : <Age at={oldestDue} />}</dd>
      </div>
      <Total
        name="Due"
        count={total(queues, (queue) => queue.due)}
        to={pathTo('jobs', { state: 'pending' })}
      />
      <Total
        name="Running"
        count={total(queues, (queue) => queue.running)}
        to={pathTo('jobs', { state: 'running' })}
      />
      <Total name="For people" count={escalated} to={pathTo('escalations')} tone="warn" />
      <Total name="Dead" count={dead} to={pathTo('dead')} tone="bad" />
    </dl>
  );
}

function Total(props: {
  readonly name: string;
  readonly count: Count;
  readonly to: string;
  readonly tone?: string;
}) {
  const tone = props.count.count > 0 && props.tone !== undefined ? ` tone-${props.tone}` : '';
  return (
    <div class="total">
      <dt>{props.name}</dt>
      <dd class={`figure${tone}`}>
        <Link to={props.to} label={`${props.name}: ${counted(props.count)}`}>
          {counted(props.count)}
        </Link>
      </dd>
    </div>
  );
}

function Age({ at }: { readonly at: string }) {
  const now = useCell(useBoard().clock);
  const health = healthOf({ paused: null, oldest_due_at: at, running: NONE }, now);
  return <span class={`figure health-${health}`}>{span(secondsSince(at, now))}</span>;
}

const NONE: Count = { count: 0, capped: false };

function QueueTable({ queues }: { readonly queues: readonly QueueHealth[] }) {
  return (
    <table class="table queues">
      <caption class="unseen">Queues, the one with the oldest due job first</caption>
      <thead>
        <tr>
          <th scope="col">Queue</th>
          <th scope="col">Oldest due</th>
          <th scope="col" class="num">
            Due
          </th>
          <th scope="col" class="num">
            Running
          </th>
          <th scope="col" class="num">
            Delayed
          </th>
          <th scope="col" class="num">
            For people
          </th>
          <th scope="col" class="num">
            Dead
          </th>
          <th scope="col">Last hour</th>
          <th scope="col">
            <span class="unseen">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {queues.map((queue) => (
          <QueueRow key={queue.name} queue={queue} />
        ))}
      </tbody>
    </table>
  );
}

function QueueRow({ queue }: { readonly queue: QueueHealth }) {
  const board = useBoard();
  const { name } = queue;
  const cell = (label: string, count: Count, to: string, tone = '') => (
    <td class="num" data-label={label}>
      {count.count === 0 ? (
        <span class="zero">0</span>
      ) : (
        <Link to={to} class={tone} label={`${counted(count)} ${label.toLowerCase()} in ${name}`}>
          {counted(count)}
        </Link>
      )}
    </td>
  );
  return (
    <tr>
      <th scope="row">
        <Link to={queuePath(name)} class="row-name">
          {name}
        </Link>
      </th>
      <td class="age-cell" data-label="Oldest due">
        <HealthAge queue={queue} />
      </td>
      {cell('Due', queue.due, pathTo('jobs', { queue: name, state: 'pending' }))}
      {cell('Running', queue.running, pathTo('jobs', { queue: name, state: 'running' }))}
      {cell('Delayed', queue.delayed, pathTo('jobs', { queue: name, state: 'pending' }))}
      {cell('For people', queue.escalated, pathTo('escalations', { queue: name }), 'tone-warn')}
      {cell('Dead', queue.dead, pathTo('dead', { queue: name }), 'tone-bad')}
      <td class="spark-cell">
        <Spark series={queue.series} />
      </td>
      <td class="action-cell">{board.may('operate') ? <PauseButton queue={queue} /> : null}</td>
    </tr>
  );
}

export function PauseButton({ queue }: { readonly queue: Pick<QueueHealth, 'name' | 'paused'> }) {
  const board = useBoard();
  const paused = queue.paused !== null;
  return (
    <button
      type="button"
      class="button small"
      aria-label={`${paused ? 'Resume' : 'Pause'} ${queue.name}`}
      onClick={() => (paused ? askResume : askPause)(board, queue.name)}
    >
      {paused ? 'Resume' : 'Pause'}
    </button>
  );
}

export function HealthAge({ queue }: { readonly queue: QueueHealth }) {
  const now = useCell(useBoard().clock);
  const health = healthOf(queue, now);
  const age = queue.oldest_due_at === null ? '' : span(secondsSince(queue.oldest_due_at, now));
  return (
    <span class={`health health-${health}`}>
      <span class="dot" aria-hidden="true" />
      <span class="health-word">{HEALTH_WORDS[health]}</span>
      <span class="health-age">{age}</span>
    </span>
  );
}

/** What happened since the page opened, the newest first. */
function Latest() {
  const { latest } = useBoard();
  const events = useCell(latest)
    .filter(({ type }) => type !== 'heartbeat')
    .slice(0, LATEST_EVENTS);
  return (
    <section class="panel" aria-labelledby="latest">
      <div class="panel-head">
        <h2 id="latest">Happening now</h2>
        <Link to={pathTo('activity')}>All activity</Link>
      </div>
      {events.length === 0 ? (
        <p class="quiet">
          Nothing has happened since you opened this page. Changes appear here by themselves.
        </p>
      ) : (
        <ol class="events">
          {events.map((event) => (
            <EventLine key={event.id} event={event} />
          ))}
        </ol>
      )}
    </section>
  );
}

export function PausedNote({ queue }: { readonly queue: Pick<QueueHealth, 'paused'> }) {
  const { paused } = queue;
  if (paused === null) return null;
  return (
    <p class="banner tone-warn">
      Paused <Ago at={paused.since} /> by {paused.by}
      {paused.reason === null ? '' : `: ${paused.reason}`}
    </p>
  );
}
