import { waitAtMost } from '../bounded-wait.ts';
import { isSuccessStatus } from '../http-status.ts';
import type { LogChanges, LogEvent } from '../queue/log-event.ts';
import type { Overview } from '../queue/overview.ts';
import { logChangesResponse } from '../schemas/log-response.ts';
import { overviewResponse } from '../schemas/overview-response.ts';
import { LeaseholdApiError, apiError } from './api-error.ts';
import { EventStreamParser } from '../event-stream.ts';
import type { StreamMessage } from '../event-stream.ts';
import { isWorthAnotherTry, pauseMs } from './retry.ts';
import type { TransportOptions } from './transport.ts';

export interface FollowOptions {
  /** Only this queue. */
  readonly queue?: string | undefined;
  /** Go on after this event; left out: from now on. */
  readonly cursor?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type Followed =
  /** The stream is there, at first or again: what is read from now on, and what comes, together miss nothing. */
  | { readonly kind: 'connected'; readonly cursor: string | undefined }
  | ({ readonly kind: 'change' } & LogChanges)
  | { readonly kind: 'overview'; readonly overview: Overview }
  /** The service has another log by now: read everything anew. */
  | { readonly kind: 'reset' }
  /** The stream is cut, and will be taken up again. */
  | { readonly kind: 'cut' };

/** A stream that says nothing for so long is dead; heartbeats come three times as often. */
const SILENCE_MS = 45_000;
/** Early events that are remembered, to tell when they come again. */
const MAX_EARLY_IDS = 10_000;

/**
 * Follows the event log until the signal fires: each event once, and what happened while the stream was cut as well.
 *
 * @throws {LeaseholdApiError} what no repeat can mend: the token has ended, or may not read this
 */
export async function* followLog(
  options: TransportOptions,
  { queue, cursor, signal }: FollowOptions = {},
): AsyncGenerator<Followed, void, void> {
  const early = new Set<string>();
  let last = cursor;
  for (let failures = 0; !hasFired(signal);) {
    const parser = new EventStreamParser();
    let isConnected = false;
    let thrown: unknown;
    try {
      const reader = await openStream(options, { queue, last, signal });
      try {
        for await (const piece of piecesOf(options, reader, signal)) {
          failures = 0;
          const messages = parser.push(piece);
          for (const message of messages) {
            if (!isConnected) yield { kind: 'connected', cursor: last };
            isConnected = true;
            if (message.event === 'reset') early.clear();
            const followed = followedOf(message, early);
            if (followed !== undefined) yield followed;
          }
          last = parser.lastEventId ?? last;
        }
      } finally {
        await reader.cancel().catch(() => undefined);
      }
    } catch (error) {
      thrown = error;
    }
    if (hasFired(signal)) return;
    const cut = thrown instanceof LeaseholdApiError ? thrown : noAnswer(thrown);
    if (thrown instanceof LeaseholdApiError && !isWorthAnotherTry(thrown)) throw thrown;
    failures += 1;
    if (parser.retryMs === undefined) yield { kind: 'cut' };
    await options.timer
      .sleep(parser.retryMs ?? pauseMs(cut, failures, options.random), signal)
      .catch(() => undefined);
  }
}

async function openStream(
  { fetch, token, baseUrl, timer }: TransportOptions,
  {
    queue,
    last,
    signal,
  }: { queue: string | undefined; last: string | undefined } & Pick<FollowOptions, 'signal'>,
): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const search = queue === undefined ? '' : `?${new URLSearchParams({ queue }).toString()}`;
  const request = new Request(`${baseUrl.replace(/\/+$/, '')}/v1/events/stream${search}`, {
    headers: {
      accept: 'text/event-stream, application/problem+json',
      authorization: `Bearer ${await token()}`,
      ...(last === undefined ? {} : { 'last-event-id': last }),
    },
    redirect: 'manual',
    ...(signal === undefined ? {} : { signal }),
  });
  const answered = await waitAtMost(timer, SILENCE_MS, async () => await fetch(request), signal);
  if (answered.kind !== 'value')
    throw noAnswer(answered.kind === 'error' ? answered.error : undefined);
  const { status, headers, body } = answered.value;
  if (!isSuccessStatus(status)) {
    const problem: unknown = await answered.value.json().catch(() => undefined);
    throw apiError(status, headers, problem);
  }
  if (body === null || headers.get('content-type')?.startsWith('text/event-stream') !== true) {
    throw new LeaseholdApiError('The answer is no stream of events.', {
      status,
      code: 'unexpected_answer',
    });
  }
  return body.getReader();
}

async function* piecesOf(
  { timer }: TransportOptions,
  reader: ReadableStreamDefaultReader<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  for (;;) {
    const read = await waitAtMost(timer, SILENCE_MS, async () => await reader.read(), signal);
    if (read.kind === 'error') throw noAnswer(read.error);
    if (read.kind !== 'value' || read.value.done) return;
    yield decoder.decode(read.value.value, { stream: true });
  }
}

function followedOf(message: StreamMessage, early: Set<string>): Followed | undefined {
  switch (message.event) {
    case 'change': {
      const { events, jobs } = logChangesResponse.parse(JSON.parse(message.data));
      const fresh = events.filter((event) => isNew(event, early));
      return fresh.length === 0 ? undefined : { kind: 'change', events: fresh, jobs };
    }
    case 'overview':
      return { kind: 'overview', overview: overviewResponse.parse(JSON.parse(message.data)) };
    case 'reset':
      return { kind: 'reset' };
    default:
      return undefined;
  }
}

/** Asked anew each time: it may have fired during a wait. */
function hasFired(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

/** An event that came early comes again with its cursor. */
function isNew({ id, cursor }: LogEvent, early: Set<string>): boolean {
  if (cursor !== null) return !early.delete(id);
  if (early.has(id)) return false;
  early.add(id);
  const [oldest] = early;
  if (early.size > MAX_EARLY_IDS && oldest !== undefined) early.delete(oldest);
  return true;
}

function noAnswer(cause: unknown): LeaseholdApiError {
  return new LeaseholdApiError('The stream was cut.', { status: 0, code: 'no_answer', cause });
}
