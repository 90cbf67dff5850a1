import type { ClaimedJob } from './queue/claimed-job.ts';
import { readTraceContext } from './trace-context.ts';
import type { TraceContext } from './trace-context.ts';
import { NO_TRACER } from './tracer.ts';
import type { Span, SpanKind, Tracer } from './tracer.ts';

export interface JobSpan {
  readonly span: Span;
  /** The same job, its trace that of the span: what the holder calls belongs to it. */
  readonly job: ClaimedJob;
}

/** The trace that came with a job. */
export function traceOf({ headers }: Pick<ClaimedJob, 'headers'>): TraceContext | undefined {
  const { traceparent, tracestate } = headers;
  return readTraceContext(textOf(traceparent), textOf(tracestate));
}

/** Begins the span of one attempt; it belongs to the trace that the job came with. */
export function startJobSpan(
  tracer: Tracer | undefined,
  verb: 'process' | 'push',
  job: ClaimedJob,
): JobSpan {
  if (tracer === undefined) return { span: NO_TRACER.start(verb, { kind: 'consumer' }), job };
  const kind: SpanKind = verb === 'push' ? 'client' : 'consumer';
  const span = tracer.start(`${verb} ${job.queue}`, {
    kind,
    parent: traceOf(job),
    attributes: {
      ...queueAttributes(job.queue, verb),
      'messaging.message.id': job.jobId,
      'leasehold.job.type': job.type,
      'leasehold.job.attempt': job.attempt,
    },
  });
  return { span, job: { ...job, headers: { ...job.headers, ...span.context } } };
}

/** Ends it with what became of the attempt. */
export function endJobSpan(
  span: Span,
  outcome: { readonly outcome: string; readonly code?: string },
): void {
  span.set({ 'leasehold.outcome': outcome.outcome });
  if (outcome.code !== undefined) span.end(outcome.code);
  else if (outcome.outcome === 'lease_lost' || outcome.outcome === 'unknown') {
    span.end(outcome.outcome);
  } else span.end();
}

/** What OpenTelemetry calls a queue and what is done to it. */
export function queueAttributes(queue: string, operation: string): Record<string, string> {
  return {
    'messaging.system': 'leasehold',
    'messaging.destination.name': queue,
    'messaging.operation.name': operation,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
