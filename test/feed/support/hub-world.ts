import { FeedHub } from '../../../functions/feed/feed-hub.ts';
import type { FeedHubOptions } from '../../../functions/feed/feed-hub.ts';
import type { ViewerRequest } from '../../../functions/feed/live-feed.ts';
import { webClock, webTimer } from '../../../functions/web-ports.ts';
import { MAX_FEED_EVENTS } from '../../../shared/limits.ts';
import type { Sql } from '../../../shared/ports.ts';
import { logChanges } from '../../../shared/queue/log-changes.ts';
import { readOverview } from '../../../shared/queue/overview.ts';
import type { JsonObject } from '../../../shared/json-value.ts';
import { createTestDatabase } from '../../support/database.ts';
import type { TestDatabase } from '../../support/database.ts';
import { createHttpSql } from '../../support/http-sql.ts';
import { settledLog } from '../../support/settled-log.ts';
import type { HttpSql } from '../../support/http-sql.ts';
import { RecordingLog } from '../../unit/support/recording-log.ts';
import { view } from './viewer.ts';
import type { TestViewer } from './viewer.ts';

/** A feed over a real database, through the driver and endpoint of production. */
export interface HubWorld {
  readonly database: TestDatabase;
  readonly http: HttpSql;
  readonly sql: Sql;
  readonly log: RecordingLog;
  hub(options?: Partial<FeedHubOptions>): TestHub;
  /** Waits until all that is committed has its cursor: a transaction of another test may be open in the server. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export interface TestHub {
  readonly hub: FeedHub;
  /** Looks into the log, and into the overview, so far. */
  readonly reads: { changes: number; overviews: number };
  watch(request?: ViewerRequest): Promise<TestViewer>;
}

export async function createHubWorld(): Promise<HubWorld> {
  const database = await createTestDatabase();
  const http = await createHttpSql(database);
  const log = new RecordingLog();
  const { sql } = http;
  return {
    database,
    http,
    sql,
    log,
    hub: (options = {}) => {
      const reads = { changes: 0, overviews: 0 };
      const hub = new FeedHub({
        clock: webClock,
        timer: webTimer,
        random: { next: () => 0.5 },
        log,
        read: async (place) => {
          reads.changes += 1;
          return await logChanges(sql, {
            limit: MAX_FEED_EVENTS,
            ...(place === undefined ? {} : { place }),
          });
        },
        overview: async () => {
          reads.overviews += 1;
          return (await readOverview(sql)) as unknown as JsonObject;
        },
        ...options,
      });
      return {
        hub,
        reads,
        watch: async (request = {}) => {
          const viewer = view(await hub.open(request), { lastEventId: request.cursor });
          await viewer.until(({ messages }) => messages.length > 0);
          return viewer;
        },
      };
    },
    settled: async () => await settledLog(sql),
    close: async () => {
      await http.close();
      await database.drop();
    },
  };
}
