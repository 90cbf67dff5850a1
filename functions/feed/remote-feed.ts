import type { EventFeed } from '../../shared/ports.ts';
import type { LiveFeed } from './live-feed.ts';
import { addressOf } from './viewer-address.ts';

/** A feed that another object has: its streams come through this request as they are. */
export function createRemoteFeed(
  hints: EventFeed,
  fetch: (address: string) => Promise<Response>,
): LiveFeed {
  return {
    changed: () => hints.changed(),
    open: async (viewer) => {
      const { ok, body } = await fetch(addressOf(viewer));
      if (!ok || body === null) throw new Error('The live feed gave no stream.');
      return body;
    },
  };
}
