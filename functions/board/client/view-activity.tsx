import { EventLine } from './event-line.tsx';
import { sentence } from './format.ts';
import { useBoard } from './hooks.ts';
import { useLiveLog, type LiveLog } from './live-log.ts';
import { Empty, Failure, Link, Loading, PageTitle } from './parts.tsx';
import { pathTo } from './router.ts';
import { QueueSelect } from './view-jobs.tsx';
import { LOG_EVENT_TYPES } from './wire.ts';

/** The event log, the newest first, and as it is written. */
export function ActivityView({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const { go } = useBoard();
  const { queue, actor, type } = query;
  const log = useLiveLog({ queue, actor, type });
  const change = (next: Readonly<Record<string, string | undefined>>): void =>
    go(pathTo('activity', { ...query, ...next }), 'replace');
  const isFiltered = (queue ?? actor ?? type) !== undefined;
  return (
    <>
      <PageTitle>Activity</PageTitle>
      <div class="filters">
        <QueueSelect queue={queue} change={change} />
        <label class="select">
          <span class="unseen">Kind of event</span>
          <select
            value={type ?? ''}
            onChange={(event: Event) =>
              change({ type: (event.target as HTMLSelectElement).value || undefined })
            }
          >
            <option value="">All but heartbeats</option>
            {LOG_EVENT_TYPES.map((name) => (
              <option key={name} value={name}>
                {sentence(name)}
              </option>
            ))}
          </select>
        </label>
        <form
          class="search"
          role="search"
          onSubmit={(event: Event) => {
            event.preventDefault();
            const { elements } = event.target as HTMLFormElement;
            const { value } = elements.namedItem('actor') as HTMLInputElement;
            change({ actor: value.trim() || undefined });
          }}
        >
          <input
            type="search"
            name="actor"
            aria-label="Actor"
            placeholder="exact actor"
            autocomplete="off"
            spellcheck={false}
            value={actor ?? ''}
          />
          <button type="submit" class="button">
            Search
          </button>
        </form>
      </div>
      {log.error === undefined ? null : <Failure error={log.error} retry={log.reload} />}
      <Events log={log} isFiltered={isFiltered} />
    </>
  );
}

function Events({ log, isFiltered }: { readonly log: LiveLog; readonly isFiltered: boolean }) {
  const { list, loading, error } = log;
  return (
    <>
      {list.events.length === 0 && error === undefined ? (
        <Nothing loading={loading} isFiltered={isFiltered} mayBeOlder={list.older !== null} />
      ) : (
        <ol class="events">
          {list.events.map((event) => (
            <EventLine key={event.id} event={event} />
          ))}
        </ol>
      )}
      {list.older === null ? null : (
        <button type="button" class="button more" onClick={log.loadOlder}>
          {loading ? 'Loading …' : 'Load older events'}
        </button>
      )}
    </>
  );
}

function Nothing(props: {
  readonly loading: boolean;
  readonly isFiltered: boolean;
  readonly mayBeOlder: boolean;
}) {
  if (props.loading) return <Loading />;
  if (props.mayBeOlder) {
    return <Empty title="Nothing fits lately">Older events may: they are read when you ask.</Empty>;
  }
  return (
    <Empty title={props.isFiltered ? 'Nothing fits these filters' : 'Nothing has happened yet'}>
      {props.isFiltered ? (
        <Link to={pathTo('activity')}>Show all events</Link>
      ) : (
        'Events appear here by themselves.'
      )}
    </Empty>
  );
}
