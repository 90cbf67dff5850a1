import { useMemo, useState } from 'hono/jsx/dom';

import { shortId } from './format.ts';
import { useBoard, useCell, useJobList } from './hooks.ts';
import { jobsLike, type JobFilter } from './job-list.ts';
import {
  Ago,
  Empty,
  JobNow,
  Link,
  ListNotice,
  PageTitle,
  StateBadge,
  stateWord,
} from './parts.tsx';
import { jobPath, pathTo, withQuery } from './router.ts';
import type { JobSummary } from './wire.ts';
import { VirtualGrid } from './virtual-grid.tsx';

const STATES = ['pending', 'running', 'escalated', 'dead', 'succeeded', 'cancelled'];
const SEARCHED = [
  ['type', 'Type'],
  ['tag', 'Tag'],
  ['ordering_key', 'Ordering key'],
  ['dedup_key', 'Dedup key'],
  ['id', 'Job id'],
] as const;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const PAGE_SIZE = '200';

export const COLUMNS = [
  { name: 'State', class: 'c-state' },
  { name: 'Job', class: 'c-job' },
  { name: 'Now', class: 'c-now' },
  { name: 'Attempt', class: 'c-attempt' },
  { name: 'Created', class: 'c-age' },
];

export function jobCells(job: JobSummary) {
  return [
    <StateBadge state={job.state} />,
    <span class="clip">
      <Link to={jobPath(job.id)} class="row-name" tabindex={-1}>
        {job.type}
      </Link>{' '}
      <span class="quiet">
        {job.queue} · <span class="mono">{shortId(job.id)}</span>
      </span>
    </span>,
    <JobNow job={job} />,
    `${job.attempt}/${job.max_attempts}`,
    <Ago at={job.created_at} />,
  ];
}

export function JobsView({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const board = useBoard();
  const filter = useMemo(() => filterOf(query), [JSON.stringify(query)]);
  const kind = useMemo(() => jobsLike(filter), [filter]);
  const path = withQuery('/v1/jobs', { ...filter, limit: PAGE_SIZE });
  const { list, loading, error, loadMore, reload } = useJobList(path, kind);
  const change = (next: Readonly<Record<string, string | undefined>>): void =>
    board.go(pathTo('jobs', { ...query, ...next }), 'replace');
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <>
      <PageTitle>Jobs</PageTitle>
      <div class="filters">
        <StateTabs state={query['state']} change={change} />
        <QueueSelect queue={query['queue']} change={change} />
        <Search query={query} change={change} />
      </div>
      <ListNotice isEmpty={list.rows.length === 0} loading={loading} error={error} retry={reload}>
        <Empty title={isFiltered ? 'No job fits these filters' : 'No jobs yet'}>
          {isFiltered ? (
            <Link to={pathTo('jobs')}>Show all jobs</Link>
          ) : (
            'The first one appears here by itself.'
          )}
        </Empty>
      </ListNotice>
      {list.rows.length > 0 ? (
        <VirtualGrid
          label="Jobs, newest first"
          columns={COLUMNS}
          rows={list.rows}
          more={list.next !== null}
          loadMore={loadMore}
          open={(job) => board.go(jobPath(job.id))}
          cells={jobCells}
        />
      ) : null}
      {list.next !== null && list.rows.length > 0 ? (
        <button type="button" class="button more" onClick={loadMore}>
          {loading ? 'Loading …' : 'Load more'}
        </button>
      ) : null}
    </>
  );
}

type Change = (next: Readonly<Record<string, string | undefined>>) => void;

function StateTabs({
  state,
  change,
}: {
  readonly state: string | undefined;
  readonly change: Change;
}) {
  return (
    <div class="tabs" role="group" aria-label="State">
      {[undefined, ...STATES].map((one) => (
        <button
          key={one ?? 'all'}
          type="button"
          class="tab"
          aria-pressed={one === state ? 'true' : 'false'}
          onClick={() => change({ state: one })}
        >
          {one === undefined ? 'All' : stateWord(one)}
        </button>
      ))}
    </div>
  );
}

export function QueueSelect({
  queue,
  change,
}: {
  readonly queue: string | undefined;
  readonly change: Change;
}) {
  const seen = useCell(useBoard().overview);
  const names = (seen?.queues ?? []).map(({ name }) => name).toSorted();
  const all = queue === undefined || names.includes(queue) ? names : [queue, ...names];
  return (
    <label class="select">
      <span class="unseen">Queue</span>
      <select
        value={queue ?? ''}
        onChange={(event: Event) =>
          change({ queue: (event.target as HTMLSelectElement).value || undefined })
        }
      >
        <option value="">All queues</option>
        {all.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function Search({
  query,
  change,
}: {
  readonly query: Readonly<Record<string, string>>;
  readonly change: Change;
}) {
  const { go } = useBoard();
  const used = SEARCHED.find(([name]) => query[name] !== undefined)?.[0] ?? 'type';
  const [field, setField] = useState<string>(used);
  const cleared = Object.fromEntries(SEARCHED.map(([name]) => [name, undefined]));
  const submit = (event: Event): void => {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const value = (form.elements.namedItem('value') as HTMLInputElement).value.trim();
    if (UUID.test(value)) return go(jobPath(value.toLowerCase()));
    change({ ...cleared, [field]: value === '' ? undefined : value });
  };
  return (
    <form class="search" role="search" onSubmit={submit}>
      <label>
        <span class="unseen">Search in</span>
        <select
          value={field}
          onChange={(event: Event) => setField((event.target as HTMLSelectElement).value)}
        >
          {SEARCHED.map(([name, word]) => (
            <option key={name} value={name}>
              {word}
            </option>
          ))}
        </select>
      </label>
      <input
        type="search"
        name="value"
        id="search"
        aria-label="Search for"
        placeholder={field === 'id' ? 'whole job id' : `exact ${field.replace('_', ' ')}`}
        autocomplete="off"
        spellcheck={false}
        value={query[used] ?? ''}
      />
      <button type="submit" class="button">
        Search
      </button>
    </form>
  );
}

function filterOf(query: Readonly<Record<string, string>>): JobFilter {
  const names = ['queue', 'state', 'type', 'tag', 'ordering_key', 'dedup_key'];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = query[name];
      return value === undefined || value === '' ? [] : [[name, value]];
    }),
  );
}
