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
  /** Given early, and not settled yet: the newest, as many as of the settled ones. The others come when they are settled. */
  #early: LogChanges[] = [];

  constructor(from: string) {
    this.#from = from;
  }

  add(page: LogChangesPage): void {
    const settled = page.events.filter(({ cursor }) => cursor !== null);
    const ids = new Set(settled.map(({ id }) => id));
    this.#early = newestEarly(
      [...this.#early, page]
        .map((kept) => stillEarly(kept, ids))
        .filter(({ events }) => events.length > 0),
    );
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

/** What of a page is not settled, and the jobs of that alone: those of the others are told, newer, where they are settled. */
function stillEarly({ events, jobs }: LogChanges, settled: ReadonlySet<string>): LogChanges {
  const left = events.filter(({ cursor, id }) => cursor === null && !settled.has(id));
  const about = new Set(left.map(({ job_id: job }) => job));
  return { events: left, jobs: jobs.filter(({ id }) => about.has(id)) };
}

/** While a transaction runs for an hour, an hour of events is early: that is not for memory to keep. */
function newestEarly(pages: readonly LogChanges[]): LogChanges[] {
  let events = 0;
  const from = pages.findLastIndex((page) => (events += page.events.length) > MAX_RECENT_EVENTS);
  return pages.slice(from + 1);
}

/** Early events come after everything. */
export function isAfter(cursor: string): (event: LogEvent) => boolean {
  return (event) => event.cursor === null || compareCursors(event.cursor, cursor) > 0;
}
