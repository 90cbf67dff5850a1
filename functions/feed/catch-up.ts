import { LeaseholdError } from '../../shared/errors.ts';
import type { LogChangesPage, LogPlace } from '../../shared/queue/log-changes.ts';
import { isAfter } from './recent-changes.ts';
import type { RecentChanges } from './recent-changes.ts';
import { compareCursors, laterCursor } from './log-order.ts';
import type { Viewer } from './viewer.ts';

export type KnownPlace = Pick<LogPlace, 'cursor'> & Partial<LogPlace>;

export interface CatchUpSource {
  /** Where the feed itself is, once it knows. */
  place(): { readonly cursor: string; readonly recent: RecentChanges } | undefined;
  /** Resolves when it knows, or the viewer has gone. */
  ready(viewer: Viewer): Promise<void>;
  /** A page of the log, from the database: one read for all viewers that ask for the same at a time. */
  page(place: KnownPlace): Promise<LogChangesPage>;
  /** The viewer has missed changes: an overview that it has is old. */
  overviewIsDue(): void;
  /** Waits before a read that failed is tried again. */
  rest(viewer: Viewer): Promise<void>;
}

/**
 * Brings a viewer from the cursor that it came with to where the feed is, page by page and no faster than it reads, and lets
 * it live from there on. What was read lately comes from memory. Nothing is skipped on the way: the feed goes on meanwhile,
 * and what it reads is kept for this.
 */
export async function catchUp(viewer: Viewer, source: CatchUpSource): Promise<void> {
  const cameWith = viewer.at;
  /** The last page that was read for it: the database knows its cursor. */
  let last: LogChangesPage | undefined;
  while (!viewer.gone) {
    await source.ready(viewer);
    const now = source.place();
    const { at } = viewer;
    if (now === undefined) continue;
    if (at === undefined) {
      if (viewer.isLost) viewer.sendReset(now.cursor);
      else viewer.sendStart(now.cursor);
      continue;
    }
    const order = compareCursors(at, now.cursor);
    const missed = order < 0 ? now.recent.after(at) : [];
    // Ahead of the feed, hints were lost, or the cursor is of another database: the database knows. It is also asked to the
    // end once it is asked, since early events come last.
    const isSettled = last === undefined ? order <= 0 : !last.more;
    if (missed !== undefined && isSettled) {
      for (const page of missed) viewer.sendChanges(page, page.cursor);
      viewer.at = laterCursor(at, now.cursor);
      for (const early of now.recent.early()) {
        // They come again when they are settled; one who was let go for them would come back to the same, for ever.
        if (!viewer.hasRoom) break;
        viewer.sendChanges(early, viewer.at);
      }
      if (cameWith !== undefined && cameWith !== viewer.at) source.overviewIsDue();
      viewer.sendStart(viewer.at);
      viewer.live = true;
      return;
    }
    try {
      const page: LogChangesPage = await source.page({ cursor: at, ...seenIn(last) });
      last = page;
      // Read after the feed was there, so that it tells all that the feed knew by then.
      const cursor = page.more ? page.place.cursor : laterCursor(page.place.cursor, now.cursor);
      viewer.sendChanges({ events: page.events.filter(isAfter(at)), jobs: page.jobs }, cursor);
    } catch (error) {
      if (error instanceof LeaseholdError && error.code === 'invalid_request') {
        viewer.sendReset(now.cursor);
      } else {
        await source.rest(viewer);
      }
    }
    await viewer.drained();
  }
}

/** Early events fill pages and move no cursor: how far they were given goes with it. */
function seenIn(page: LogChangesPage | undefined): Partial<LogPlace> {
  return page?.more === true ? { seen: page.place.seen } : {};
}
