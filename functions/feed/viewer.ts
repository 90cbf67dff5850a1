import type { JsonObject } from '../../shared/json-value.ts';
import { MAX_STREAM_BACKLOG_BYTES } from '../../shared/limits.ts';
import type { LogChanges } from '../../shared/queue/log-event.ts';
import type { ViewerRequest } from './live-feed.ts';
import { filteredChanges, filteredOverview, queueFilter } from './queue-filter.ts';
import type { QueueFilter } from './queue-filter.ts';
import { sseHeartbeat, sseMessage } from './server-sent-events.ts';

/** Texts that viewers with the same filter share. */
export type SharedTexts = Map<string, Uint8Array | undefined>;

export interface ViewerOptions {
  readonly request: ViewerRequest;
  /** Local milliseconds at which the stream ends. */
  readonly endsAt: number;
  /** Why it ends then. */
  readonly endReason: 'time' | 'token';
  /** The reader has gone, or the stream has ended and all of it is taken. */
  readonly onGone: (viewer: Viewer) => void;
}

/** One stream, from its start to its end. */
export class Viewer {
  readonly filter: QueueFilter;
  endsAt: number;
  readonly endReason: 'time' | 'token';
  readonly stream: ReadableStream<Uint8Array>;
  /** All settled events up to here were sent, or are none of this viewer's. */
  at: string | undefined;
  /** Whether it gets what the feed reads; else it still catches up. */
  live = false;
  /** It gets nothing more; its stream ends when the reader has taken all, or goes. */
  gone = false;
  #isOver = false;
  #hasSent = false;
  /** It came with something that is no place in this log. */
  readonly isLost: boolean;
  readonly #onGone: (viewer: Viewer) => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #drained: (() => void) | undefined;

  constructor({ request, endsAt, endReason, onGone }: ViewerOptions) {
    const { cursor, lost = false } = request;
    this.filter = queueFilter(request);
    this.at = cursor;
    this.isLost = lost;
    this.endsAt = endsAt;
    this.endReason = endReason;
    this.#onGone = onGone;
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => {
          this.#drained?.();
          if (this.gone) this.#closeWhenTaken();
        },
        cancel: () => this.#end(),
      },
      { highWaterMark: MAX_STREAM_BACKLOG_BYTES, size: (chunk) => chunk.byteLength },
    );
  }

  /**
   * @param cursor all settled events up to here are sent with this
   * @param texts shared by all viewers that get the same changes
   */
  sendChanges(changes: LogChanges, cursor: string, texts?: SharedTexts): void {
    const text = shared(texts, this.filter.key, () => {
      const its = filteredChanges(this.filter, changes);
      if (its.events.length === 0) return undefined;
      return sseMessage({ event: 'change', data: its, id: cursor });
    });
    this.at = cursor;
    if (text !== undefined) this.#send(text);
  }

  /** Where the stream starts, unless something has said so already: what is read from then on, and what comes, miss nothing. */
  sendStart(cursor: string): void {
    this.at = cursor;
    if (this.#hasSent) return;
    this.#send(sseMessage({ event: 'change', data: { events: [], jobs: [] }, id: cursor }));
  }

  /** What the viewer has is of another log: it reads everything anew, and the stream goes on from here. */
  sendReset(cursor: string): void {
    this.#send(sseMessage({ event: 'reset', data: {}, id: cursor }));
    this.at = cursor;
  }

  sendOverview(overview: JsonObject, texts: SharedTexts): void {
    const text = shared(texts, this.filter.key, () =>
      sseMessage({ event: 'overview', data: filteredOverview(this.filter, overview) }),
    );
    if (text !== undefined) this.#send(text);
  }

  beat(): void {
    if (this.#hasSent) this.#send(sseHeartbeat(this.live ? this.at : undefined));
  }

  /** The clean end: the reader comes back with what it has. */
  handOver(retryMs: number): void {
    const data = { reason: this.endReason };
    this.#send(sseMessage({ event: 'hand_over', data, retryMs }));
    this.#close();
  }

  /** Whether the reader has taken most of what was sent. */
  get hasRoom(): boolean {
    return (this.#controller?.desiredSize ?? 0) >= MAX_STREAM_BACKLOG_BYTES / 2;
  }

  /** Bytes that were sent and that the reader has not taken. */
  get backlog(): number {
    if (this.#isOver) return 0;
    return MAX_STREAM_BACKLOG_BYTES - (this.#controller?.desiredSize ?? MAX_STREAM_BACKLOG_BYTES);
  }

  /** Cuts the stream, and forgets what the reader has not taken: it comes back with what it has. */
  drop(): void {
    if (this.#isOver) return;
    this.#controller?.error(new Error('The reader does not take what is sent.'));
    this.#end();
  }

  /** Resolves when the reader has taken most of what was sent. */
  async drained(): Promise<void> {
    while (!this.gone && !this.hasRoom) {
      await new Promise<void>((resolve) => {
        this.#drained = resolve;
      });
    }
  }

  #send(chunk: Uint8Array): void {
    if (this.gone || this.#controller === undefined) return;
    this.#hasSent = true;
    try {
      this.#controller.enqueue(chunk);
    } catch {
      this.#end();
      return;
    }
    // A reader that does not keep up is let go; it comes back with what it has, at its own pace.
    if ((this.#controller.desiredSize ?? 0) < 0) this.#close();
  }

  #close(): void {
    if (this.gone) return;
    this.gone = true;
    this.#drained?.();
    this.#closeWhenTaken();
  }

  /** What waits in a stream that nobody reads is memory: until it is taken, the stream counts as one. */
  #closeWhenTaken(): void {
    if (this.#isOver || this.backlog > 0) return;
    try {
      this.#controller?.close();
    } catch {
      // The reader went first.
    }
    this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.gone = true;
    this.#drained?.();
    this.#onGone(this);
  }
}

function shared(
  texts: SharedTexts | undefined,
  key: string,
  make: () => Uint8Array | undefined,
): Uint8Array | undefined {
  if (texts === undefined) return make();
  if (!texts.has(key)) texts.set(key, make());
  return texts.get(key);
}
