import type { JsonObject, JsonValue } from '../../shared/json-value.ts';
import { isJsonObject } from '../../shared/json-value.ts';

/** One request to the HTTP API of this deployment. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** What is undefined is left out. */
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** Sent as JSON; what is undefined in it is left out. */
  readonly body?: object;
  readonly idempotencyKey?: string | undefined;
}

export interface ApiAnswer {
  readonly status: number;
  /** A problem document when the status is 400 or more; `retry_after_seconds` is what the header said. */
  readonly body: JsonObject;
}

export type CallApi = (request: ApiRequest) => Promise<ApiAnswer>;

/** Of the request that carries the message; the rest says who is calling, and goes with every call. */
const OF_THE_MESSAGE = /^(?:accept|content|if|mcp)-|^(?:accept|idempotency-key|last-event-id)$/;

/**
 * Calls of the API for whoever sent a request: each with the credential that came with it, through all that stands before
 * a route, so that sign-in, scopes, limits, checks and the log are those of the API.
 *
 * @param send takes a request through the whole app
 * @param outer the request that they are made for; when its caller goes, the call that is waited for is aborted
 * @example const { status, body } = await callApi({ method: 'GET', path: '/v1/queues' });
 */
export function apiCaller(
  send: (request: Request) => Promise<Response>,
  outer: Request,
  requestId: string,
): CallApi {
  return async ({ method, path, query = {}, body, idempotencyKey }) => {
    const url = new URL(path, outer.url);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const headers = new Headers([...outer.headers].filter(([name]) => !OF_THE_MESSAGE.test(name)));
    headers.set('x-request-id', requestId);
    if (body !== undefined) headers.set('content-type', 'application/json');
    if (idempotencyKey !== undefined) {
      headers.set('idempotency-key', JSON.stringify(idempotencyKey));
    }
    const response = await send(
      new Request(url, {
        method,
        headers,
        signal: outer.signal,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
    const answer = (await response.json()) as JsonValue;
    const retryAfter = response.headers.get('retry-after');
    return {
      status: response.status,
      body: {
        ...(isJsonObject(answer) ? answer : { value: answer }),
        ...(retryAfter === null ? {} : { retry_after_seconds: Number(retryAfter) }),
      },
    };
  };
}
