import type { PublishedEvent } from '../published-event.ts';

/** Why an event did not go out: short, safe to store and to show, without addresses and secrets. */
export interface PublishError {
  /** snake_case, such as `http_503`. */
  readonly code: string;
  readonly message: string;
}

export type PublishOutcome =
  /** The receiver has it: it answered so, and will not lose it. */
  | { readonly outcome: 'published' }
  /** Or nobody knows. It is tried again after a delay; its aggregate waits, others go on. */
  | {
      readonly outcome: 'failed';
      readonly error: PublishError;
      /**
       * The receiver as a whole could not be reached: nothing is wrong with the event, which is not quarantined for it
       * while the receiver takes no other either.
       */
      readonly away?: true;
      /** The receiver's wish: not before so many milliseconds. */
      readonly retryAfterMs?: number;
    }
  /** No retry can help: the event is quarantined until a person decides. */
  | { readonly outcome: 'rejected'; readonly error: PublishError };

/** Where a relay sends events. At least once: the same event may come again, with the same id. */
export interface Publisher {
  /**
   * Sends one event and waits until the receiver has it. Called for several events at once, never for two of one
   * aggregate. What it throws counts as `failed`.
   *
   * @param options.signal fires when the relay waits no longer: after 15 seconds, or with its lease or its invocation
   */
  publish(
    event: PublishedEvent,
    options: { readonly signal: AbortSignal },
  ): Promise<PublishOutcome>;
  /**
   * Lets go of what publishing has opened, such as a connection; the next event opens it again. A relay calls it at the end
   * of a pass, since a function may be frozen there, and a socket of one Workers request is of no use to another. Never
   * rejects.
   */
  close?(): Promise<void>;
}
