import { createApp } from '../../../functions/app.ts';
import { createIsolateDeps } from '../../../functions/deps.ts';
import type { AppDeps } from '../../../functions/deps.ts';
import { feedHubOver } from '../../../functions/feed/hub-over.ts';
import { HANDLERS } from '../../../functions/handlers/index.ts';
import { createPoker } from '../../../functions/poker.ts';
import { tick } from '../../../functions/scheduled/tick.ts';
import { NO_WAKE_CLOCK } from '../../../functions/wake/no-wake-clock.ts';
import { handlerRegistry } from '../../../shared/handler-registry.ts';
import { FEED_PACE_MS } from '../../../shared/limits.ts';
import { createTestDatabase } from '../../support/database.ts';
import { createHttpSql } from '../../support/http-sql.ts';
import { RecordingLog } from '../../unit/support/recording-log.ts';
import type { StartForm } from './form.ts';

/** The app in this process, as any server with a `fetch` handler would run it: pokes by HTTP, no wake clock. */
export const startProcessForm: StartForm = async (variables) => {
  const database = await createTestDatabase();
  const http = await createHttpSql(database);
  const background = new Set<Promise<void>>();
  const isolate = createIsolateDeps(
    { DATABASE_URL: http.connectionString, ...variables },
    handlerRegistry(HANDLERS),
    { log: new RecordingLog() },
  );
  const [key] = isolate.config.pokeSecrets;
  const deps: AppDeps = {
    ...isolate,
    background: {
      run: (task) => {
        const done = task().finally(() => background.delete(done));
        background.add(done);
      },
    },
    poker: createPoker({
      ...isolate,
      baseUrl: new URL('https://leasehold.test'),
      key: key?.reveal() ?? '',
      fetch: (request) => createApp(deps).fetch(request),
    }),
    wake: NO_WAKE_CLOCK,
    feed: feedHubOver(isolate, { paceMs: FEED_PACE_MS }),
    invocationMs: 30_000,
  };
  const backgroundDone = async (): Promise<void> => {
    while (background.size > 0) await Promise.all(background);
  };
  return {
    fetch: (path, init) =>
      createApp(deps).fetch(new Request(`https://leasehold.test${path}`, init)),
    drain: () => tick(deps),
    close: async () => {
      await backgroundDone();
      await http.close();
      await database.drop();
    },
  };
};
