import type { EventFeed } from '../../shared/ports.ts';

/** Who wants to follow. */
export interface ViewerRequest {
  /** Of the last settled event that they have; left out: from now on. */
  readonly cursor?: string;
  /** They came with something that is no place in this log: they read everything anew. */
  readonly lost?: boolean;
  /** The one queue that they look at. */
  readonly queue?: string;
  /** The only queues that they may see; left out: all. */
  readonly queues?: readonly string[];
  /** Local milliseconds at which their credential ends, and the stream with it. */
  readonly endsAt?: number;
}

/** Follows the event log for viewers. */
export interface LiveFeed extends EventFeed {
  /**
   * A stream of server-sent events: changes, heartbeats, and a hand-over before its bounded end.
   *
   * @throws {LeaseholdError} `feed_full` when as many watch as the feed serves
   */
  open(viewer: ViewerRequest): Promise<ReadableStream<Uint8Array>>;
}
