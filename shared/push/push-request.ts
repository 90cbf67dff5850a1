import type { JsonValue } from '../json-value.ts';
import type { ClaimedJob } from '../queue/claimed-job.ts';
import { signWebhookWithAll } from '../webhook.ts';

export interface PushRequestInput {
  readonly url: URL;
  readonly job: ClaimedJob;
  /** Lease that the receiver has after it acknowledged with `Leasehold-Async: 1`. */
  readonly leaseSeconds: number;
  /** `whsec_…`, one or two; both sign while keys are changed. */
  readonly keys: readonly string[];
  /** Milliseconds since the Unix epoch: each attempt has a timestamp of its own. */
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

/**
 * One attempt to push a job: its payload as JSON, signed per Standard Webhooks. The text is made once; its bytes are what
 * is signed and what is sent. `webhook-id` is the job's id on every attempt and after a redrive, so a receiver that
 * remembers ids sees a repeat as one.
 */
export function pushRequest(input: PushRequestInput): Request {
  const { job, keys, nowMs } = input;
  const body = JSON.stringify(job.payload);
  return new Request(input.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Leasehold',
      ...signWebhookWithAll(keys, { id: job.jobId, body, nowMs }),
      'idempotency-key': job.jobId,
      'leasehold-job-id': job.jobId,
      'leasehold-queue': headerText(job.queue),
      'leasehold-type': headerText(job.type),
      'leasehold-schema-version': String(job.schemaVersion),
      'leasehold-fencing-token': job.fencingToken,
      'leasehold-attempt': String(job.attempt),
      'leasehold-lease-seconds': String(input.leaseSeconds),
      ...traceHeaders(job.headers),
    },
    body: new TextEncoder().encode(body),
    redirect: 'manual',
    signal: input.signal,
  });
}

/** Names may hold any character and headers may not: percent-encoded as UTF-8, like a part of a URL. */
function headerText(name: string): string {
  return encodeURIComponent(name.toWellFormed());
}

function traceHeaders(headers: Readonly<Record<string, JsonValue>>): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of ['traceparent', 'tracestate']) {
    const value = headers[name];
    if (typeof value === 'string' && /^[\x20-\x7e]+$/.test(value)) found[name] = value;
  }
  return found;
}
