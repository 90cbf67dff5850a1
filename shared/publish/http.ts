import { MAX_FAILED_RESPONSE_CHARS } from '../limits.ts';
import type { Clock, Outbound } from '../ports.ts';
import { readStart } from '../read-start.ts';
import type { Secret } from '../secret.ts';
import { judgeAnswer } from './http-answer.ts';
import { eventRequest } from './http-request.ts';
import type { HttpFormat } from './http-request.ts';
import type { PublishedEvent } from '../published-event.ts';
import type { PublishOutcome, Publisher } from './publisher.ts';

export interface HttpPublisherOptions {
  /** Where every event is POSTed to. */
  readonly url: URL;
  readonly format: HttpFormat;
  /** `source` of the CloudEvents: a URI, or a relative one such as `/orders`. */
  readonly source: string;
  /** One or two `whsec_…` keys; all sign, so that a key can be changed without a gap. */
  readonly keys: readonly Secret[];
  readonly outbound: Pick<Outbound, 'fetch'>;
  readonly clock: Clock;
}

/**
 * Publishes by signed HTTP: one POST an event, a CloudEvent signed per Standard Webhooks. The receiver has the event when it
 * answers 2xx; whatever else happens, and whenever nobody knows, the event comes again with the same id.
 *
 * @example const publisher = createHttpPublisher({ url, format: 'structured', source: '/orders', keys, outbound, clock });
 */
export function createHttpPublisher(options: HttpPublisherOptions): Publisher {
  return {
    publish: (event, { signal }) => publish(options, event, signal),
  };
}

async function publish(
  options: HttpPublisherOptions,
  event: PublishedEvent,
  signal: AbortSignal,
): Promise<PublishOutcome> {
  const keys = options.keys.map((key) => key.reveal());
  const request = eventRequest({ ...options, event, keys, nowMs: options.clock.now(), signal });
  let response: Response;
  try {
    response = await options.outbound.fetch(request);
  } catch (error) {
    const message = `The receiver could not be reached${reasonOf(error)}.`;
    return { outcome: 'failed', error: { code: 'unreachable', message }, away: true };
  }
  // The status is the answer: a body that cannot be read changes nothing, but it holds a connection until it is let go.
  const { status, headers } = response;
  const text = await bodyOf(response).catch(() => '');
  return judgeAnswer({ status, headers, text }, options.clock.now());
}

/** What a receiver says about a failure; of a success nothing is kept. */
async function bodyOf(response: Response): Promise<string> {
  if (!response.ok) return (await readStart(response, MAX_FAILED_RESPONSE_CHARS)).text;
  await response.body?.cancel();
  return '';
}

/** Codes like ECONNREFUSED; texts of network errors may repeat the URL, which may hold a secret. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : '';
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{0,63}$/.test(code) ? `: ${code}` : '';
}
