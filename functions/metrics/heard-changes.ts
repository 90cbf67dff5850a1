import type { MetricsSource } from '../../shared/metrics/kept-metrics.ts';
import type { LiveFeed } from '../feed/live-feed.ts';

/** Lets measures hear of what the feed is told. */
export function heardBy(metrics: MetricsSource, feed: LiveFeed): LiveFeed {
  return {
    changed: () => {
      void metrics.changed();
      feed.changed();
    },
    open: (viewer) => feed.open(viewer),
  };
}
