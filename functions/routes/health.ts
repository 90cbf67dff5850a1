import { waitAtMost } from '../../shared/bounded-wait.ts';
import { LeaseholdError } from '../../shared/errors.ts';
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

/** The database answers and its schema fits the code. This does wake the database; hence the token. */
export const ready: Route = {
  method: 'GET',
  path: '/v1/ready',
  access: { kind: 'token', scope: 'read' },
  database: false, // it asks anew each time, whatever the isolate remembers
  handle: async (context, deps) => {
    const checked = await waitAtMost(deps.timer, READY_TIMEOUT_MS, (signal) =>
      checkSchema(deps.sql, { signal }),
    );
    if (checked.kind === 'value') {
      return context.json({
        status: 'ready',
        schema_version: checked.value.version,
        code_schema_version: SCHEMA_VERSION,
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
