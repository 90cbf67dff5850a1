import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace';
import { waitAtMost } from '../../shared/bounded-wait.ts';
import { isSuccessStatus } from '../../shared/http-status.ts';
import { MAX_KEPT_SPANS, SPAN_EXPORT_TIMEOUT_MS } from '../../shared/limits.ts';
import { openTelemetryTracer } from '../../shared/open-telemetry-tracer.ts';
import type { Clock, Log, Random, Timer } from '../../shared/ports.ts';
import type { Tracer } from '../../shared/tracer.ts';
import type { TracingSettings } from '../../shared/tracing-settings.ts';

export interface TracingPorts {
  readonly clock: Clock;
  readonly timer: Timer;
  readonly random: Random;
  readonly log: Log;
  /** Sends the spans. Never the port for pushes: that one checks where a job may go. */
  readonly fetch: (request: Request) => Promise<Response>;
}

/** Spans of one isolate, kept until they are sent. */
export interface Tracing {
  readonly tracer: Tracer;
  /** Sends what has ended; for the background of an invocation. Never rejects: spans that cannot be sent are dropped. */
  flush(): Promise<void>;
}

/**
 * Spans by OTLP over HTTP. There is no global provider, no timer and no queue that works by itself: whoever ends a request
 * flushes, in an invocation of its own.
 */
export function createTracing(settings: TracingSettings, ports: TracingPorts): Tracing {
  const ended: ReadableSpan[] = [];
  const processor: SpanProcessor = {
    onStart: () => undefined,
    onEnd: (span) => {
      if (ended.length < MAX_KEPT_SPANS) ended.push(span);
    },
    forceFlush: async () => undefined,
    shutdown: async () => undefined,
  };
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': settings.serviceName }),
    sampler: new ParentBasedSampler({
      root:
        settings.ratio === 1 ? new AlwaysOnSampler() : new TraceIdRatioBasedSampler(settings.ratio),
    }),
    idGenerator: {
      generateTraceId: () => hex(ports.random, 16),
      generateSpanId: () => hex(ports.random, 8),
    },
    spanProcessors: [processor],
  });
  return {
    tracer: openTelemetryTracer(provider.getTracer('leasehold'), ports.clock),
    flush: async () => {
      const spans = ended.splice(0);
      if (spans.length > 0) await send(settings, ports, spans);
    },
  };
}

async function send(
  { url, headers }: TracingSettings,
  { timer, log, fetch }: TracingPorts,
  spans: ReadableSpan[],
): Promise<void> {
  const sent = await waitAtMost(timer, SPAN_EXPORT_TIMEOUT_MS, async (signal) => {
    const body = JsonTraceSerializer.serializeRequest(spans);
    const request = new Request(url, {
      method: 'POST',
      headers: {
        ...Object.fromEntries(headers.map(([name, value]) => [name, value.reveal()])),
        'content-type': 'application/json',
      },
      body: new TextDecoder().decode(body),
      // A redirect would carry the keys to another host.
      redirect: 'manual',
      signal,
    });
    const response = await fetch(request);
    await response.body?.cancel();
    return response.status;
  });
  if (sent.kind === 'value' && isSuccessStatus(sent.value)) return;
  log.warn('spans_dropped', {
    spans: spans.length,
    reason: sent.kind === 'value' ? 'refused' : sent.kind,
    status: sent.kind === 'value' ? sent.value : undefined,
  });
}

function hex(random: Random, bytes: number): string {
  return Array.from({ length: bytes }, () =>
    Math.floor(random.next() * 256)
      .toString(16)
      .padStart(2, '0'),
  ).join('');
}
