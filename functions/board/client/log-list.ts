/** The event log from the newest event down to some place, kept true while more happens. */
import type { BoardEvent } from './wire.ts';

export interface LogList {
  /** The newest first, each once. */
  readonly events: readonly BoardEvent[];
  /** Where older ones begin; null: all are here. */
  readonly older: string | null;
}

export interface LogFilter {
  readonly queue?: string | undefined;
  readonly actor?: string | undefined;
  readonly type?: string | undefined;
}

/** Beyond so many the oldest are let go; they can be read again. */
export const MAX_LISTED_EVENTS = 1000;

/** Heartbeats are shown when they are asked for: there are too many of them. */
export function fitsLog({ queue, actor, type }: LogFilter, event: BoardEvent): boolean {
  return (
    (queue === undefined || event.queue === queue) &&
    (actor === undefined || event.actor === actor) &&
    (type === undefined ? event.type !== 'heartbeat' : event.type === type)
  );
}

/** Takes in what has happened; the newest that the list can hold stay. */
export function withNews(
  list: LogList,
  events: readonly BoardEvent[],
  most = MAX_LISTED_EVENTS,
): LogList {
  if (events.length === 0) return list;
  const all = inOrder(list.events, events);
  if (all.length <= most) return { events: all, older: list.older };
  const gone = places(all.slice(most)).at(-1) ?? '';
  // The log goes by transactions, the list by time: all that is let go must lie before the place to read on from.
  const older = places(all.slice(0, most)).find((place) => byPlace(gone, place) < 0);
  return older === undefined
    ? { events: all, older: list.older }
    : { events: all.slice(0, most), older };
}

/** Takes in a page of older ones. */
export function withOlder(list: LogList, page: LogList): LogList {
  return { events: inOrder(list.events, page.events), older: page.older };
}

function inOrder(known: readonly BoardEvent[], more: readonly BoardEvent[]): readonly BoardEvent[] {
  const all = new Map([...known, ...more].map((event) => [event.id, event]));
  return [...all.values()].toSorted(newestFirst);
}

/** Cursors of events, in the order of the log. */
function places(events: readonly BoardEvent[]): readonly string[] {
  return events.flatMap(({ cursor }) => cursor ?? []).toSorted(byPlace);
}

/** A transaction and the number of a row in it, `7_j12`: jobs before queues. */
function byPlace(left: string, right: string): number {
  const [ours = '', theirs = ''] = [left, right].map((cursor) =>
    cursor
      .split('_')
      .map((part) => part.replace(/\d+/, (digits) => digits.padStart(20, '0')))
      .join('_'),
  );
  if (ours === theirs) return 0;
  return ours < theirs ? -1 : 1;
}

function newestFirst(left: BoardEvent, right: BoardEvent): number {
  if (left.at !== right.at) return left.at < right.at ? 1 : -1;
  if (left.id.charAt(0) !== right.id.charAt(0)) return 0;
  return Number(right.id.slice(1)) - Number(left.id.slice(1));
}
