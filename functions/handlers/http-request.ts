import { z } from 'zod';

import { defineHandler } from '../../shared/handler.ts';
import { PermanentError, RetryAfter, TransientError } from '../../shared/handler-errors.ts';
import {
  isRedirectStatus,
  isSuccessStatus,
  isTransientStatus,
  statusCode,
} from '../../shared/http-status.ts';
import { readStart } from '../../shared/read-start.ts';
import { parseRetryAfter } from '../../shared/retry-after.ts';
import { safeText } from '../../shared/safe-text.ts';

const MAX_RESPONSE_BYTES = 4000;
const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'GET'] as const;

/** Set by the platform or by us: a payload must not forge them. */
const RESERVED_HEADERS = new Set(['host', 'content-length', 'transfer-encoding', 'connection']);

const schema = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  method: z.enum(METHODS).default('POST'),
  /** No secrets here: payloads are kept with the job. */
  headers: z
    .record(z.string().regex(/^[A-Za-z0-9-]+$/), z.string().regex(/^[\x20-\x7e]*$/))
    .default({}),
  /** Any JSON value; sent as JSON. */
  body: z.unknown().optional(),
});

/**
 * `http.request` in queue `http`: sends the payload's body to a URL. 2xx is success; 408, 425, 429, 5xx and a failed
 * connection are tried again, `Retry-After` honoured; any other answer, a redirect among them, is final. The receiver gets the same
 * `Idempotency-Key` on every attempt and can tell a repeat by it.
 *
 * @example { "url": "https://example.com/hook", "body": { "order": 7 } }
 */
export const httpRequest = defineHandler({
  queue: 'http',
  type: 'http.request',
  schema,
  leaseSeconds: 30,
  maxRunSeconds: 25,
  async run(job, context) {
    const { url, method, headers, body } = job.payload;
    const response = await fetchOrTransient(url, {
      method,
      headers: requestHeaders(headers, job.headers['traceparent'], context.idempotencyKey),
      redirect: 'manual',
      signal: context.signal,
      ...(method === 'GET' || body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { status } = response;
    context.progress(`status ${status}`);
    const text = await textOf(response);
    if (isSuccessStatus(status)) return { status, body: text };
    throw failureOf(response, text, context.clock.now());
  },
});

async function fetchOrTransient(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (cause) {
    throw new TransientError('http_unreachable', 'The request got no answer.', { cause });
  }
}

/** The status is the answer: a body that breaks off must not make a request that succeeded run again. */
async function textOf(response: Response): Promise<string> {
  const start = await readStart(response, MAX_RESPONSE_BYTES).catch(() => undefined);
  return safeText(start?.text ?? '', MAX_RESPONSE_BYTES);
}

function failureOf(response: Response, text: string, nowMs: number): Error {
  const { status, headers } = response;
  const code = statusCode(status);
  if (isRedirectStatus(status)) {
    return new PermanentError(code, 'The answer was a redirect, which is not followed.');
  }
  const message = `The answer was ${status}${text === '' ? '' : `: ${text}`}`;
  if (!isTransientStatus(status)) return new PermanentError(code, message);
  const seconds = parseRetryAfter(headers.get('retry-after'), nowMs);
  return seconds === undefined
    ? new TransientError(code, message)
    : new RetryAfter(seconds, message, { code });
}

function requestHeaders(
  given: Readonly<Record<string, string>>,
  traceparent: unknown,
  idempotencyKey: string,
): Headers {
  const headers = new Headers({ 'content-type': 'application/json' });
  for (const [name, value] of Object.entries(given)) {
    if (!RESERVED_HEADERS.has(name.toLowerCase())) headers.set(name, value);
  }
  headers.set('idempotency-key', idempotencyKey);
  if (typeof traceparent === 'string') headers.set('traceparent', traceparent);
  return headers;
}
