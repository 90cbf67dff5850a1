import type { TraceContext } from './trace-context.ts';

/** As OpenTelemetry has them. */
export type SpanKind = 'server' | 'client' | 'producer' | 'consumer';

/** Names and numbers; never payloads, results, error texts or secrets. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanOptions {
  readonly kind: SpanKind;
  /** Left out: what the tracer knows to be under way, or nothing. */
  readonly parent?: TraceContext | undefined;
  readonly attributes?: SpanAttributes;
}

/** One piece of work in a trace. */
export interface Span {
  /** What goes to whoever is called within it; undefined: no trace. */
  readonly context: TraceContext | undefined;
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** Another trace that this is about. */
  link(context: TraceContext | undefined): void;
  /** @param error a code, where it failed */
  end(error?: string): void;
}

/** Makes spans. */
export interface Tracer {
  start(name: string, options: SpanOptions): Span;
}

/** Hands on the trace that it is given, and records nothing. */
export const NO_TRACER: Tracer = {
  start: (_name, { parent }) => ({
    context: parent,
    rename: nothing,
    set: nothing,
    link: nothing,
    end: nothing,
  }),
};

function nothing(): void {}
