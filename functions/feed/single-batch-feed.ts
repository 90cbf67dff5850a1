import { defined } from '../../shared/defined.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import { FEED_PACE_MS, MAX_FEED_EVENTS, MAX_SINGLE_BATCH_PAGES } from '../../shared/limits.ts';
import type { Sql } from '../../shared/ports.ts';
import { logChanges } from '../../shared/queue/log-changes.ts';
import { ensureSchema } from '../schema-gate.ts';
import type { SchemaGate } from '../schema-gate.ts';
import type { LiveFeed } from './live-feed.ts';
import { isAfter } from './recent-changes.ts';
import { Viewer } from './viewer.ts';

/**
 * For a platform that sends an answer only when it is complete: each stream brings what has happened since the cursor that
 * the reader came with and ends at once, and the reader comes back a moment later.
 */
export function createSingleBatchFeed({
  sql,
  schema,
}: {
  readonly sql: Sql;
  readonly schema: SchemaGate;
}): LiveFeed {
  return {
    changed: () => undefined,
    open: async (request) => {
      await ensureSchema(sql, schema);
      const viewer = new Viewer({
        request,
        endsAt: 0,
        endReason: 'time',
        onGone: () => undefined,
      });
      try {
        await sendBatch(sql, viewer);
      } catch (error) {
        if (!(error instanceof LeaseholdError) || error.code !== 'invalid_request') throw error;
        // The cursor is of another database.
        await sendBatch(sql, viewer, true);
      }
      viewer.handOver(FEED_PACE_MS);
      return viewer.stream;
    },
  };
}

async function sendBatch(sql: Sql, viewer: Viewer, anew = viewer.isLost): Promise<void> {
  let seen: string | undefined;
  for (let pages = 1; pages <= MAX_SINGLE_BATCH_PAGES; pages += 1) {
    const at = anew ? undefined : viewer.at;
    const page = await logChanges(sql, {
      limit: MAX_FEED_EVENTS,
      ...(at === undefined ? {} : { place: defined({ cursor: at, seen }) }),
    });
    if (anew) viewer.sendReset(page.place.cursor);
    else if (at === undefined) viewer.sendStart(page.place.cursor);
    else {
      const events = page.events.filter(isAfter(at));
      viewer.sendChanges({ events, jobs: page.jobs }, page.place.cursor);
      viewer.sendStart(page.place.cursor);
    }
    if (!page.more) return;
    seen = page.place.seen;
  }
}
