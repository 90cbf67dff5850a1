/**
 * Follows the stream of changes for as long as the page is open: resumes where it was cut, waits longer after each failure,
 * and takes a stream that has fallen silent for dead. What it cannot resume is loaded anew.
 */
import { EventStreamParser, type StreamMessage } from '../../../shared/event-stream.ts';

export type Connection = 'connecting' | 'live' | 'lost';

export interface StreamPorts {
  readonly open: (lastEventId: string | undefined, signal: AbortSignal) => Promise<Response>;
  /** Ends after this time, or at once when the signal fires. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** 0 to 1. */
  readonly random: () => number;
}

export interface StreamListener {
  readonly message: (message: StreamMessage) => void;
  readonly connection: (state: Connection) => void;
  /** The stream begins anew: whatever was loaded before may have missed something. */
  readonly fresh: () => void;
  /** The session has ended, and with it this. */
  readonly signedOut: () => void;
}

/** Heartbeats come more often than this. */
const SILENCE_MS = 45_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;

export async function followStream(
  ports: StreamPorts,
  listener: StreamListener,
  signal: AbortSignal,
): Promise<void> {
  let lastEventId: string | undefined;
  let failures = 0;
  while (!signal.aborted) {
    const parser = new EventStreamParser();
    const connection = new AbortController();
    const stop = (): void => connection.abort();
    signal.addEventListener('abort', stop, { once: true });
    try {
      const response = await ports.open(lastEventId, connection.signal);
      if (response.status === 401) return listener.signedOut();
      if (!response.ok || response.body === null) throw new Error(`status ${response.status}`);
      let isFresh = lastEventId === undefined;
      await readAll(response.body, ports, connection, (piece) => {
        const messages = parser.push(piece);
        failures = 0;
        listener.connection('live');
        // The first message of a new stream is its starting point: what is read from now on misses nothing.
        if (isFresh && messages.length > 0) {
          isFresh = false;
          listener.fresh();
        }
        for (const message of messages) listener.message(message);
        lastEventId = parser.lastEventId ?? lastEventId;
      });
    } catch {
      failures += 1;
    } finally {
      connection.abort();
      signal.removeEventListener('abort', stop);
    }
    if (signal.aborted) return;
    if (failures > 0) listener.connection(failures > 1 ? 'lost' : 'connecting');
    await ports.wait(pause(failures, parser.retryMs, ports.random()), signal);
  }
}

/** Between two streams: what the server asked for after a good one, else longer with each failure, and never in step. */
export function pause(failures: number, retryMs: number | undefined, random: number): number {
  if (failures === 0) return retryMs ?? FIRST_WAIT_MS;
  const most = Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), LONGEST_WAIT_MS);
  return most / 2 + (most / 2) * random;
}

async function readAll(
  body: ReadableStream<Uint8Array>,
  ports: StreamPorts,
  connection: AbortController,
  take: (piece: string) => void,
): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const watch = new AbortController();
    const silence = ports.wait(SILENCE_MS, watch.signal).then(() => {
      if (!watch.signal.aborted) connection.abort();
    });
    try {
      const { value, done } = await Promise.race([reader.read(), silent(connection.signal)]);
      if (done) return;
      take(decoder.decode(value, { stream: true }));
    } finally {
      watch.abort();
      await silence;
    }
  }
}

function silent(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = (): void => reject(new Error('the stream was closed'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
