import { MAX_RECENT_EVENTS } from '../../shared/limits.ts';
import type { LogChangesPage } from '../../shared/queue/log-changes.ts';
import type { LogChanges, LogEvent } from '../../shared/queue/log-event.ts';
import { compareCursors } from './log-order.ts';

export interface KeptChanges extends LogChanges {
  /** All settled events up to here are in this page or before it. */
  readonly cursor: string;
}

/**
 * The last pages of the log that the feed has read: viewers who come back after a cut, or after a hand-over, get what they
 * have missed from here, without a read of the database.
 */
export class RecentChanges {
  /** Everything settled after this cursor is kept. */
  #from: string;
  readonly #pages: KeptChanges[] = [];
  #events = 0;
  /** Given early, and not settled yet. */
  #early: LogChanges[] = [];

  constructor(from: string) {
    this.#from = from;
  }

  add(page: LogChangesPage): void {
    const settled = page.events.filter(({ cursor }) => cursor !== null);
    const ids = new Set(settled.map(({ id }) => id));
    this.#early = [...this.#early, page]
      .map(({ events, jobs }) => ({
        events: events.filter(({ cursor, id }) => cursor === null && !ids.has(id)),
        jobs,
      }))
      .filter(({ events }) => events.length > 0)
      .slice(-MAX_RECENT_EVENTS);
    if (settled.length === 0) return;
    this.#pages.push({ events: settled, jobs: page.jobs, cursor: page.place.cursor });
    this.#events += settled.length;
    while (this.#events > MAX_RECENT_EVENTS) {
      const gone = this.#pages.shift();
      if (gone === undefined) break;
      this.#events -= gone.events.length;
      this.#from = gone.cursor;
    }
  }

  /** What is kept after a cursor; undefined: more than that is missing. */
  after(cursor: string): readonly KeptChanges[] | undefined {
    if (compareCursors(cursor, this.#from) < 0) return undefined;
    return this.#pages
      .filter((page) => compareCursors(page.cursor, cursor) > 0)
      .map((page) => ({ ...page, events: page.events.filter(isAfter(cursor)) }));
  }

  early(): readonly LogChanges[] {
    return this.#early;
  }
}

/** Early events come after everything. */
export function isAfter(cursor: string): (event: LogEvent) => boolean {
  return (event) => event.cursor === null || compareCursors(event.cursor, cursor) > 0;
}
