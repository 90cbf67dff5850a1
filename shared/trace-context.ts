import { MAX_JOB_HEADER_VALUE_CHARS } from './limits.ts';

/** W3C trace context, as it travels with a job. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/**
 * Reads the two headers of W3C Trace Context. A broken header is dropped, never a reason to refuse a request.
 * Of a version we do not know, the four fields of version 00 are kept, as the standard asks.
 *
 * @example readTraceContext('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', undefined)
 */
export function readTraceContext(
  traceparent: string | undefined,
  tracestate: string | undefined,
): TraceContext | undefined {
  const match = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(
    traceparent?.trim() ?? '',
  );
  if (match === null) return undefined;
  const [, version, traceId = '', parentId = '', flags, rest] = match;
  if (version === 'ff' || /^0+$/.test(traceId) || /^0+$/.test(parentId)) return undefined;
  if (version === '00' && rest !== undefined) return undefined;
  const kept = `${version}-${traceId}-${parentId}-${flags}`;
  return isState(tracestate) ? { traceparent: kept, tracestate } : { traceparent: kept };
}

function isState(text: string | undefined): text is string {
  return (
    text !== undefined && text.length <= MAX_JOB_HEADER_VALUE_CHARS && /^[\x20-\x7e]+$/.test(text)
  );
}
