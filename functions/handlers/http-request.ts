import { z } from 'zod';

import { defineHandler } from '../../shared/handler.ts';
import { HandlerFailure } from '../../shared/handler-failure.ts';
import { safeText } from '../../shared/safe-text.ts';

const MAX_RESPONSE_CHARS = 4000;
const RETRYABLE_STATUS = new Set([408, 425, 429]);
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
 * connection are tried again; any other answer, a redirect among them, is final. The receiver gets the same
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
    const response = await fetch(url, {
      method,
      headers: requestHeaders(headers, job.headers['traceparent'], context.idempotencyKey),
      redirect: 'manual',
      signal: context.signal,
      ...(method === 'GET' || body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    context.progress(`status ${response.status}`);
    const text = await readStart(response);
    if (response.status >= 200 && response.status < 300)
      return { status: response.status, body: text };
    throw new HandlerFailure(failureCode(response), failureMessage(response, text), {
      retryable: response.status >= 500 || RETRYABLE_STATUS.has(response.status),
    });
  },
});

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

function failureCode(response: Response): string {
  return isRedirect(response) ? 'http_redirect' : `http_${response.status}`;
}

function failureMessage(response: Response, text: string): string {
  if (isRedirect(response)) return 'The answer was a redirect, which is not followed.';
  return `The answer was ${response.status}${text === '' ? '' : `: ${text}`}`;
}

/** By the fetch standard the status of a redirect that is not followed is hidden (0); Node and Workers show it. */
function isRedirect({ status }: Response): boolean {
  return status === 0 || (status >= 300 && status < 400);
}

/** Reads no more than is kept, whatever the other side sends. */
async function readStart(response: Response): Promise<string> {
  const body: ReadableStream<Uint8Array> | null = response.body;
  if (body === null) return '';
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = '';
  while (text.length <= MAX_RESPONSE_CHARS) {
    const { done, value } = await reader.read();
    if (done) return safeText(text + decoder.decode(), MAX_RESPONSE_CHARS);
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return safeText(text, MAX_RESPONSE_CHARS);
}
