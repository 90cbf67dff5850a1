/**
 * What a consumer does about versions. `any`: every event once, in whatever order. `apply-newer-only`: an event older than
 * one applied is passed over. `strict`: versions one after another; a gap is refused. One consumer keeps to one policy.
 */
export type InboxPolicy = 'any' | 'apply-newer-only' | 'strict';

/** The part of an event that the inbox looks at; an event of the outbox has it all. */
export interface DeliveredEvent {
  /** 1 to 200 characters, unique to its sender. */
  readonly id: string;
  /** The aggregate and its version are needed by every policy but `any`. */
  readonly aggregateType?: string | undefined;
  readonly aggregateId?: string | undefined;
  readonly version?: number | undefined;
}

/** An event with a place in the order of its aggregate. */
export interface OrderedEvent extends DeliveredEvent {
  readonly aggregateType: string;
  readonly aggregateId: string;
  readonly version: number;
}

/** One event at the door of one consumer. */
export interface Receipt {
  /** The consumer's name, 1 to 128 characters: each consumer applies each event once. */
  readonly consumer: string;
  readonly event: DeliveredEvent;
  /** Default `any`. */
  readonly policy?: InboxPolicy | undefined;
  /**
   * Who sent the event, as its credential says and not its body; up to 200 characters. Two senders may use one id, or one
   * aggregate. Default: empty, the only sender.
   */
  readonly sender?: string | undefined;
}
