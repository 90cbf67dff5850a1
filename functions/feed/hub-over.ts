import type { JsonObject } from '../../shared/json-value.ts';
import { FEED_PACE_MS, MAX_FEED_EVENTS } from '../../shared/limits.ts';
import type { Clock, Log, Random, Sql, Timer } from '../../shared/ports.ts';
import { logChanges } from '../../shared/queue/log-changes.ts';
import { readOverview } from '../../shared/queue/overview.ts';
import { ensureSchema } from '../schema-gate.ts';
import type { SchemaGate } from '../schema-gate.ts';
import { FeedHub } from './feed-hub.ts';
import type { FeedHubOptions } from './feed-hub.ts';
import type { LiveFeed } from './live-feed.ts';

export interface HubPorts {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly random: Random;
  readonly log: Log;
}

/** A feed that reads this database. */
export function feedHubOver(
  { sql, clock, timer, random, log }: HubPorts,
  options: Pick<FeedHubOptions, 'paceMs' | 'maxStreamMs'> = {},
): FeedHub {
  return new FeedHub({
    clock,
    timer,
    random,
    log,
    ...options,
    read: async (place) =>
      await logChanges(sql, { limit: MAX_FEED_EVENTS, ...(place === undefined ? {} : { place }) }),
    overview: async () => (await readOverview(sql)) as unknown as JsonObject,
  });
}

/**
 * For a platform where no two requests can share what one of them reads, and no hint reaches a stream: each stream looks by
 * itself, at a set pace, while it is open.
 *
 * @param options.maxStreamMs what the platform leaves a stream
 */
export function createPacedFeed(
  ports: HubPorts & { readonly schema: SchemaGate },
  options: Pick<FeedHubOptions, 'maxStreamMs'> = {},
): LiveFeed {
  return {
    changed: () => undefined,
    open: async (viewer) => {
      await ensureSchema(ports.sql, ports.schema);
      return await feedHubOver(ports, { paceMs: FEED_PACE_MS, ...options }).open(viewer);
    },
  };
}
