import {
  context as otelContext,
  createTraceState,
  ROOT_CONTEXT,
  SpanKind as OtelSpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { SpanContext, Tracer as OtelTracer } from '@opentelemetry/api';
import type { Clock } from './ports.ts';
import { readTraceContext } from './trace-context.ts';
import type { TraceContext } from './trace-context.ts';
import type { Span, SpanKind, Tracer } from './tracer.ts';

const KINDS: Readonly<Record<SpanKind, OtelSpanKind>> = {
  server: OtelSpanKind.SERVER,
  client: OtelSpanKind.CLIENT,
  producer: OtelSpanKind.PRODUCER,
  consumer: OtelSpanKind.CONSUMER,
};

/**
 * A tracer over one of OpenTelemetry, whoever made that: a span without a parent belongs to the active one of its context
 * manager, where there is one.
 *
 * @example createClient({ baseUrl, token, tracer: openTelemetryTracer(trace.getTracer('shop'), { now: () => Date.now() }) });
 */
export function openTelemetryTracer(tracer: OtelTracer, clock: Clock): Tracer {
  return {
    start: (name, { kind, parent, attributes = {} }) => {
      const remote = parent === undefined ? undefined : spanContext(parent);
      const span = tracer.startSpan(
        name,
        { kind: KINDS[kind], attributes: { ...attributes }, startTime: clock.now() },
        remote === undefined
          ? otelContext.active()
          : trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true }),
      );
      return {
        context: traceContext(span.spanContext()),
        rename: (changed) => void span.updateName(changed),
        set: (more) => void span.setAttributes({ ...more }),
        link: (to) => {
          const linked = to === undefined ? undefined : spanContext(to);
          if (linked !== undefined) span.addLink({ context: linked });
        },
        end: (error) => {
          if (error !== undefined) {
            span.setAttribute('error.type', error);
            span.setStatus({ code: SpanStatusCode.ERROR });
          }
          span.end(clock.now());
        },
      } satisfies Span;
    },
  };
}

/** The two headers as OpenTelemetry has them; undefined: they name no span. */
function spanContext({ traceparent, tracestate }: TraceContext): SpanContext | undefined {
  const kept = readTraceContext(traceparent, tracestate);
  if (kept === undefined) return undefined;
  const [, traceId = '', spanId = '', flags = '00'] = kept.traceparent.split('-');
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    ...(kept.tracestate === undefined ? {} : { traceState: createTraceState(kept.tracestate) }),
  };
}

function traceContext(context: SpanContext): TraceContext | undefined {
  const flags = context.traceFlags.toString(16).padStart(2, '0');
  const state = context.traceState?.serialize();
  return readTraceContext(
    `00-${context.traceId}-${context.spanId}-${flags}`,
    state === '' ? undefined : state,
  );
}
