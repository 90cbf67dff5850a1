import { waitAtMost } from '../../shared/bounded-wait.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import { lastTurn } from '../../shared/queue/last-turn.ts';
import { SCHEMA_VERSION } from '../../shared/queue/schema-version.ts';
import { checkSchema } from '../schema-gate.ts';
import type { Route } from './route.ts';

/** Under the usual limit of a probe; a cold database may need more than one. */
const READY_TIMEOUT_MS = 8000;
const READY_RETRY_SECONDS = 5;

/**
 * The code runs. It never touches the database: an uptime monitor that does is the commonest way to keep a
 * serverless Postgres awake, and to pay for it.
 */
export const health: Route = {
  method: 'GET',
  path: '/v1/health',
  access: { kind: 'public' },
  database: false,
  handle: (context) => context.json({ status: 'ok' }),
};

/**
 * The database answers and its schema fits the code. This does wake the database; hence the token.
 *
 * `last_tick_at` is when a scheduled tick last did all its work, to `TICK_NOTED_EVERY_SECONDS`: a monitor that finds it
 * much older than ticks are apart has found that they stopped, which nothing else would say.
 */
export const ready: Route = {
  method: 'GET',
  path: '/v1/ready',
  access: { kind: 'token', scope: 'read' },
  database: false, // it asks anew each time, whatever the isolate remembers
  handle: async (context, deps) => {
    const checked = await waitAtMost(deps.timer, READY_TIMEOUT_MS, async (signal) => {
      const { version } = await checkSchema(deps.sql, { signal });
      const { at } = await lastTurn(deps.sql, { name: 'tick' }, { signal });
      return { version, lastTickAt: at };
    });
    if (checked.kind === 'value') {
      const { version, lastTickAt } = checked.value;
      return context.json({
        status: 'ready',
        schema_version: version,
        code_schema_version: SCHEMA_VERSION,
        last_tick_at: lastTickAt?.toISOString() ?? null,
      });
    }
    throw notReady(checked.kind === 'error' ? checked.error : undefined);
  },
};

/** Whatever the database has against us, "not ready, ask again" is the answer. */
function notReady(cause: unknown): LeaseholdError {
  if (cause instanceof LeaseholdError && cause.code !== 'database_error') return cause;
  return new LeaseholdError('database_unavailable', 'The database did not answer in time.', {
    cause,
    retryAfterSeconds: READY_RETRY_SECONDS,
  });
}
