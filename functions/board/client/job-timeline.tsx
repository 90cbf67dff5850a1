import { useEffect, useState } from 'hono/jsx/dom';

import { EventLine } from './event-line.tsx';
import { plural } from './format.ts';
import { useBoard, useChanges, useLoaded } from './hooks.ts';
import { Failure } from './parts.tsx';
import type { BoardEvent } from './wire.ts';

const PAGE = 200;

interface History {
  readonly events: readonly BoardEvent[];
  readonly next_after: string | null;
}

/** What happened to one job, the newest first, heartbeats on demand. */
export function Timeline({ id }: { readonly id: string }) {
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
