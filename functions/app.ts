import { Hono } from 'hono';
import { LinearRouter } from 'hono/router/linear-router';

import { defined } from '../shared/defined.ts';
import { LeaseholdError } from '../shared/errors.ts';
import { logWith } from '../shared/log-with.ts';
import type { AppDeps } from './deps.ts';
import { HttpFault } from './http-fault.ts';
import { authorise } from './middleware/auth.ts';
import { withIdempotencyKey } from './middleware/idempotency.ts';
import { knownError, problemResponse, PROBLEMS } from './middleware/problem.ts';
import { checkRate } from './middleware/rate-limit.ts';
import { endRequestSpan, startRequestSpan } from './middleware/request-span.ts';
import { requestIdOf } from './middleware/request-id.ts';
import { EVERY_ROUTE } from './routes/index.ts';
import type { AppEnv, Route } from './routes/route.ts';
import { ensureSchema } from './schema-gate.ts';

export interface App {
  fetch(request: Request): Promise<Response>;
}

/**
 * The HTTP service, free of any platform. Made anew for each invocation from its `deps`, so that nothing of one
 * request can reach another; the linear router is the one that costs nothing to set up.
 *
 * @param routes other than the product's own, for tests
 * @example const response = await createApp(deps).fetch(new Request('https://any/v1/health'));
 */
export function createApp(deps: AppDeps, routes: readonly Route[] = EVERY_ROUTE): App {
  const app = new Hono<AppEnv>({ router: new LinearRouter() });

  app.use(async (context, next) => {
    const startedAt = deps.clock.now();
    context.set('requestId', requestIdOf(context.req.header('x-request-id'), deps.ids));
    context.set('startedAt', startedAt);
    context.set('callApp', async (request) => await app.fetch(request));
    const span = startRequestSpan(context, deps);
    context.set('trace', span.context);
    await next();
    endRequestSpan(context, deps, span);
    context.header('x-request-id', context.get('requestId'));
    if (!context.res.headers.has('cache-control')) context.header('cache-control', 'no-store');
    context.header('x-content-type-options', 'nosniff');
    // Nobody reads it: a stream would go on for nobody, to its end.
    if (context.req.method === 'HEAD') await context.res.body?.cancel();
    deps.log.info('request_served', {
      request_id: context.get('requestId'),
      method: context.req.method,
      route: context.get('route'),
      actor: context.get('actor'),
      status: context.res.status,
      duration_ms: deps.clock.now() - startedAt,
    });
  });

  for (const [path, ofPath] of groupByPath(routes)) {
    for (const route of ofPath) {
      app.on(route.method, path, async (context) => {
        const log = logWith(deps.log, { request_id: context.get('requestId') });
        const requestDeps: AppDeps = { ...deps, log, ...defined({ trace: context.get('trace') }) };
        context.set('route', path);
        const caller = await authorise(context, requestDeps, route.access);
        context.set('actor', caller.actor);
        context.set('queues', caller.queues);
        context.set('expiresAtMs', caller.expiresAtMs);
        context.set('scopes', caller.scopes);
        if (caller.byToken) {
          await checkRate(deps, { actor: caller.actor, method: route.method, route: path });
        }
        if (route.database) await ensureSchema(deps.sql, deps.schema);
        const response = await withIdempotencyKey(context, requestDeps, route);
        if (route.database && route.method !== 'GET' && response.ok) deps.feed.changed();
        return response;
      });
    }
    app.all(path, () => {
      throw new HttpFault('method_not_allowed', `This path takes ${allowed(ofPath)}.`, {
        allow: allowed(ofPath),
      });
    });
  }

  app.notFound((context) =>
    problemResponse(
      new LeaseholdError('not_found', 'No route has this path.'),
      context.get('requestId'),
    ),
  );
  app.onError((thrown, context) => {
    const requestId = context.get('requestId');
    const error = knownError(thrown);
    const { status } = PROBLEMS[error.code];
    // An outage is logged by the driver, in a few lines; one more a request would bury them.
    if (status >= 500 && error.code !== 'database_unavailable') {
      deps.log.error('request_failed', {
        request_id: requestId,
        code: error.code,
        sql_state: error.sqlState,
        // A fault of ours has no code of its own; its kind and place find it without its text.
        ...(error === thrown ? {} : { error_name: thrown.name, at: placeOf(thrown) }),
      });
    }
    return problemResponse(error, requestId);
  });

  return {
    fetch: async (request) => {
      try {
        return await app.fetch(request);
      } catch (thrown) {
        // Hono hands on what is not an Error; nothing of ours throws such a thing, so nobody may see it.
        deps.log.error('request_failed', { code: 'internal_error' });
        return problemResponse(thrown, requestIdOf(undefined, deps.ids));
      }
    },
  };
}

/** In the order given: a fixed path must stand before the pattern that would match it too. */
function groupByPath(routes: readonly Route[]): Map<string, Route[]> {
  return Map.groupBy(routes, (route) => route.path);
}

function allowed(routes: readonly Route[]): string {
  return routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
}

/** The first stack line, which holds a file and a position and no message. */
function placeOf(error: Error): string | undefined {
  return /^\s+at .*$/m.exec(error.stack ?? '')?.[0].trim();
}
