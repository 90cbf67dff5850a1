import type { JsonObject, JsonValue } from '../../shared/json-value.ts';
import type { LogChanges } from '../../shared/queue/log-event.ts';
import type { ViewerRequest } from './live-feed.ts';

/** What one viewer gets of what all could get. Viewers with one key get the same. */
export interface QueueFilter {
  readonly key: string;
  shows(queue: string | null): boolean;
}

export function queueFilter({ queue, queues }: ViewerRequest): QueueFilter {
  const allowed = queues === undefined ? undefined : new Set(queues);
  return {
    key: JSON.stringify([queue ?? null, allowed === undefined ? null : [...allowed].toSorted()]),
    shows: (name) => {
      if (queue === undefined && allowed === undefined) return true;
      if (name === null) return false;
      return (queue === undefined || queue === name) && (allowed?.has(name) ?? true);
    },
  };
}

export function filteredChanges(filter: QueueFilter, { events, jobs }: LogChanges): LogChanges {
  return {
    events: events.filter(({ queue }) => filter.shows(queue)),
    jobs: jobs.filter(({ queue }) => filter.shows(queue)),
  };
}

/** The overview with the rows of these queues alone. */
export function filteredOverview(filter: QueueFilter, overview: JsonObject): JsonObject {
  const { queues } = overview;
  if (!Array.isArray(queues)) return overview;
  return { ...overview, queues: queues.filter((row: JsonValue) => filter.shows(nameOf(row))) };
}

function nameOf(row: JsonValue): string | null {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) return null;
  const { name } = row as JsonObject;
  return typeof name === 'string' ? name : null;
}
