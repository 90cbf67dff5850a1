import type { Child } from 'hono/jsx/dom';

import { counted, plural, span, wholeNumber, words } from './format.ts';
import { useBoard, useCell, useLoaded } from './hooks.ts';
import { Empty, Failure, Link, Loading, PageTitle } from './parts.tsx';
import { Problem } from './problem.ts';
import { jobPath, pathTo } from './router.ts';
import { Spark, sum } from './spark.tsx';
import { HealthAge, PauseButton, PausedNote } from './view-overview.tsx';
import type { Count, QueueDocument, QueueHealth } from './wire.ts';

interface BlockedKeys {
  readonly keys: readonly {
    readonly ordering_key: string;
    readonly waiting: number;
    readonly blocked_by: string | null;
    readonly blocked_by_state: string | null;
  }[];
}

export function QueueView({ name }: { readonly name: string }) {
  const board = useBoard();
  const seen = useCell(board.overview);
  const health = seen?.queues.find((queue) => queue.name === name);
  const path = `/v1/queues/${encodeURIComponent(name)}`;
  const settings = useLoaded<QueueDocument>(path);
  const keys = useLoaded<BlockedKeys>(`${path}/blocked-keys?limit=20`);
  if (settings.error instanceof Problem && settings.error.status === 404) {
    return (
      <>
        <PageTitle>{name}</PageTitle>
        <Empty title="No queue has this name">
          <Link to={pathTo('overview')}>All queues</Link>
        </Empty>
      </>
    );
  }
  return (
    <>
      <p class="crumbs">
        <Link to={pathTo('overview')}>Queues</Link>
      </p>
      <PageTitle
        actions={
          health !== undefined && board.may('operate') ? <PauseButton queue={health} /> : null
        }
      >
        {name}
      </PageTitle>
      {health === undefined ? null : <Health health={health} />}
      {settings.error === undefined ? null : (
        <Failure error={settings.error} retry={settings.reload} />
      )}
      <div class="columns">
        <div>
          {health === undefined ? null : (
            <section class="panel" aria-labelledby="chart">
              <h2 id="chart">Attempts, last hour</h2>
              <p class="quiet">
                {wholeNumber(sum(health.series.succeeded))} succeeded,{' '}
                {wholeNumber(sum(health.series.failed))} failed
              </p>
              <Spark series={health.series} large />
            </section>
          )}
          <Blocked keys={keys.value?.keys ?? []} />
        </div>
        <div>
          {settings.value === undefined ? <Loading /> : <Settings queue={settings.value} />}
        </div>
      </div>
    </>
  );
}

function Health({ health }: { readonly health: QueueHealth }) {
  const { name } = health;
  const figure = (label: string, count: Count, to: string): Child => (
    <div class="total">
      <dt>{label}</dt>
      <dd class="figure">
        <Link to={to} label={`${label}: ${counted(count)}`}>
          {counted(count)}
        </Link>
      </dd>
    </div>
  );
  return (
    <>
      <PausedNote queue={health} />
      <dl class="totals">
        <div class="total total-main">
          <dt>Oldest due job</dt>
          <dd>
            <HealthAge queue={health} />
          </dd>
        </div>
        {figure('Due', health.due, pathTo('jobs', { queue: name, state: 'pending' }))}
        {figure('Running', health.running, pathTo('jobs', { queue: name, state: 'running' }))}
        {figure('For people', health.escalated, pathTo('escalations', { queue: name }))}
        {figure('Dead', health.dead, pathTo('dead', { queue: name }))}
      </dl>
    </>
  );
}

function Blocked({ keys }: { readonly keys: BlockedKeys['keys'] }) {
  if (keys.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="blocked">
      <h2 id="blocked">Ordering keys that wait</h2>
      <ul class="plain">
        {keys.map((key) => (
          <li key={key.ordering_key}>
            <span class="mono">{key.ordering_key}</span> · {plural(key.waiting, 'job')} behind{' '}
            {key.blocked_by === null ? (
              'one that is gone'
            ) : (
              <Link to={jobPath(key.blocked_by)}>
                one that is {words(key.blocked_by_state ?? 'open')}
              </Link>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Settings({ queue }: { readonly queue: QueueDocument }) {
  const escalates = queue as { readonly on_exhausted?: string; readonly escalate_after?: number };
  const rows: readonly (readonly [string, string | null])[] = [
    ['Delivery', queue.delivery + (queue.target_url === null ? '' : ` to ${queue.target_url}`)],
    ['Lease', span(queue.lease_seconds)],
    ['Longest run', span(queue.max_run_seconds)],
    ['Attempts', `${queue.max_attempts}, ${queue.max_unknown_attempts} of unknown failures`],
    [
      'Out of attempts',
      escalates.on_exhausted === 'escalate'
        ? `a person is asked, after ${plural(escalates.escalate_after ?? 3, 'failure')}`
        : 'dead',
    ],
    ['Backoff', `${span(queue.backoff_base_ms / 1000)} to ${span(queue.backoff_cap_ms / 1000)}`],
    [
      'Concurrency',
      queue.concurrency_limit === null ? 'no limit' : String(queue.concurrency_limit),
    ],
    [
      'Rate',
      queue.rate_limit === null
        ? 'no limit'
        : `${queue.rate_limit} per ${span(queue.rate_interval_ms / 1000)}`,
    ],
    [
      'A dead job',
      queue.on_dead === 'block' ? 'blocks its ordering key' : 'lets its ordering key go on',
    ],
    ['Kept', plural(queue.retention_days, 'day')],
  ];
  return (
    <section class="panel" aria-labelledby="settings">
      <h2 id="settings">Settings</h2>
      <dl class="facts">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
