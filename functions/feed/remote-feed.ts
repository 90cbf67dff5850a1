import type { EventFeed } from '../../shared/ports.ts';
import type { LiveFeed } from './live-feed.ts';
import { addressOf } from './viewer-address.ts';
import { feedFull } from './viewers.ts';

/** What the other object answers when it has no room for another stream. */
export const FEED_FULL_STATUS = 503;

/** A feed that another object has: its streams come through this request as they are. */
export function createRemoteFeed(
  hints: EventFeed,
  fetch: (address: string) => Promise<Response>,
): LiveFeed {
  return {
    changed: () => hints.changed(),
    open: async (viewer) => {
      const { ok, status, body } = await fetch(addressOf(viewer));
      if (status === FEED_FULL_STATUS) throw feedFull();
      if (!ok || body === null) throw new Error('The live feed gave no stream.');
      return body;
    },
  };
}
