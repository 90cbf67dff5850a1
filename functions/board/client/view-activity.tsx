import { EventLine } from './event-line.tsx';
import { sentence } from './format.ts';
import { useBoard, useCell } from './hooks.ts';
import { Empty, Link, PageTitle } from './parts.tsx';
import { pathTo } from './router.ts';
import { QueueSelect } from './view-jobs.tsx';
import { LOG_EVENT_TYPES } from './wire.ts';

const SHOWN_EVENTS = 300;

/** The event log as it is written, while this page is open. */
export function ActivityView({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const { latest, go } = useBoard();
  const all = useCell(latest);
  const { queue, actor, type } = query;
  const change = (next: Readonly<Record<string, string | undefined>>): void =>
    go(pathTo('activity', { ...query, ...next }), 'replace');
  const fitting = all.filter(
    (event) =>
      (queue === undefined || event.queue === queue) &&
      (actor === undefined || event.actor.toLowerCase().includes(actor.toLowerCase())) &&
      (type === undefined ? event.type !== 'heartbeat' : event.type === type),
  );
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
        <input
          type="search"
          class="input"
          aria-label="Actor"
          placeholder="actor"
          value={actor ?? ''}
          onInput={(event: Event) =>
            change({ actor: (event.target as HTMLInputElement).value.trim() || undefined })
          }
        />
      </div>
      {fitting.length === 0 ? (
        <Empty
          title={
            all.length === 0 ? 'Quiet since you opened the board' : 'Nothing fits these filters'
          }
        >
          Events appear here by themselves. For earlier times see{' '}
          <Link to={pathTo('history')}>the board at a past moment</Link>, or the timeline of a job.
        </Empty>
      ) : (
        <ol class="events">
          {fitting.slice(0, SHOWN_EVENTS).map((event) => (
            <EventLine key={event.id} event={event} />
          ))}
        </ol>
      )}
    </>
  );
}
