import { createParser } from 'eventsource-parser';

import type { LogChanges, LogEvent } from '../../../shared/queue/log-event.ts';

export interface Message {
  readonly event: string;
  readonly data: unknown;
  readonly id: string | undefined;
}

/** Somebody who reads a stream, as a browser does. */
export interface TestViewer {
  readonly messages: readonly Message[];
  readonly events: readonly LogEvent[];
  readonly comments: () => number;
  readonly retryMs: () => number | undefined;
  /** What it would send as `Last-Event-ID`. */
  readonly lastEventId: () => string | undefined;
  /** Waits until something holds of what has come; fails when the stream ends before. */
  until(holds: (viewer: TestViewer) => boolean): Promise<void>;
  /** Waits for an event about a job. */
  sees(jobId: string, type?: string): Promise<LogEvent>;
  /** The same, with a cursor. */
  settles(jobId: string): Promise<void>;
  /** Waits for the end of the stream. */
  ended(): Promise<void>;
  leave(): Promise<void>;
}

export function view(
  stream: ReadableStream<Uint8Array>,
  { lastEventId }: { readonly lastEventId?: string | undefined } = {},
): TestViewer {
  const reader = stream.getReader();
  const messages: Message[] = [];
  const events: LogEvent[] = [];
  const waiting = new Set<() => void>();
  let [comments, retryMs, last, isOver] = [0, undefined as number | undefined, lastEventId, false];
  const parser = createParser({
    onEvent: ({ event = 'message', data, id }) => {
      messages.push({ event, data: JSON.parse(data) as unknown, id });
      if (event === 'change') events.push(...(JSON.parse(data) as LogChanges).events);
    },
    onComment: () => (comments += 1),
    onRetry: (milliseconds) => (retryMs = milliseconds),
  });
  const decoder = new TextDecoder();
  void (async () => {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      const text = decoder.decode(value, { stream: true });
      parser.feed(text);
      // The parser does not tell of ids that come without a message.
      last = /^id: (.*)$/m.exec(text)?.[1] ?? last;
      for (const wake of waiting) wake();
    }
  })()
    .catch(() => undefined)
    .finally(() => {
      isOver = true;
      for (const wake of waiting) wake();
    });
  const viewer: TestViewer = {
    messages,
    events,
    comments: () => comments,
    retryMs: () => retryMs,
    lastEventId: () => last,
    until: async (holds) => {
      while (!holds(viewer)) {
        if (isOver) throw new Error('The stream has ended.');
        await new Promise<void>((resolve) => {
          waiting.add(resolve);
        });
      }
    },
    sees: async (jobId, type) => {
      const find = (): LogEvent | undefined =>
        events.find((event) => event.job_id === jobId && (type ?? event.type) === event.type);
      await viewer.until(() => find() !== undefined);
      return find() as LogEvent;
    },
    settles: async (jobId) =>
      await viewer.until(() =>
        events.some((event) => event.job_id === jobId && event.cursor !== null),
      ),
    ended: async () => {
      while (!isOver) {
        await new Promise<void>((resolve) => {
          waiting.add(resolve);
        });
      }
    },
    leave: async () => await reader.cancel(),
  };
  return viewer;
}
