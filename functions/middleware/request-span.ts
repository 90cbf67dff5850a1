import { readTraceContext } from '../../shared/trace-context.ts';
import { NO_TRACER } from '../../shared/tracer.ts';
import type { Span } from '../../shared/tracer.ts';
import type { AppDeps } from '../deps.ts';
import type { RouteContext } from '../routes/route.ts';

type SpanDeps = Pick<AppDeps, 'tracer' | 'flushSpans' | 'background'>;

/** Begins the span of a request; without a tracer it is the caller's own. */
export function startRequestSpan(context: RouteContext, { tracer = NO_TRACER }: SpanDeps): Span {
  const { method } = context.req;
  return tracer.start(method, {
    kind: 'server',
    parent: readTraceContext(context.req.header('traceparent'), context.req.header('tracestate')),
    attributes: { 'http.request.method': method },
  });
}

/** Ends it with the answer, and has everything that ended sent once the answer is on its way. */
export function endRequestSpan(context: RouteContext, deps: SpanDeps, span: Span): void {
  const route = context.get('route');
  const { status } = context.res;
  if (route !== undefined) {
    span.rename(`${context.req.method} ${route}`);
    span.set({ 'http.route': route });
  }
  span.set({
    'http.response.status_code': status,
    'leasehold.request_id': context.get('requestId'),
  });
  span.end(status >= 500 ? String(status) : undefined);
  const { flushSpans } = deps;
  if (flushSpans !== undefined) deps.background.run(flushSpans);
}
