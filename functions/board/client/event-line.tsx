import { memo } from 'hono/jsx/dom';

import { describeEvent } from './describe-event.ts';
import { shortId } from './format.ts';
import { Link, Moment } from './parts.tsx';
import { jobPath, queuePath } from './router.ts';
import type { BoardEvent } from './wire.ts';

/** One event: when, what, of which job, by whom. */
export const EventLine = memo(
  ({ event, withoutJob }: { readonly event: BoardEvent; readonly withoutJob?: boolean }) => {
    const { what, detail, tone } = describeEvent(event);
    return (
      <li class={`event tone-${tone}`}>
        <span class="event-time quiet">
          <Moment at={event.at} />
        </span>
        <span class="event-what">{what}</span>
        {withoutJob === true ? null : (
          <span class="event-job">
            <Subject event={event} />
          </span>
        )}
        <span class="event-detail">{detail}</span>
        <span class="event-actor quiet">{event.actor}</span>
      </li>
    );
  },
);

function Subject({ event }: { readonly event: BoardEvent }) {
  if (event.job_id !== null) {
    return (
      <Link to={jobPath(event.job_id)}>
        {event.job_type ?? 'job'} <span class="mono">{shortId(event.job_id)}</span>
      </Link>
    );
  }
  return event.queue === null ? null : <Link to={queuePath(event.queue)}>{event.queue}</Link>;
}
