import type { PublishedEvent } from '../../../shared/published-event.ts';
import type { PublishOutcome, Publisher } from '../../../shared/publish/publisher.ts';

/** A publisher in this process that keeps what it was given, and answers as the test says. */
export interface ScriptedPublisher extends Publisher {
  /** In the order of the calls, failures among them. */
  readonly published: PublishedEvent[];
  /** What to answer; undefined: published. May be replaced at any time. */
  script: (
    event: PublishedEvent,
    signal: AbortSignal,
  ) => PublishOutcome | undefined | Promise<PublishOutcome | undefined>;
  /** Ids of an aggregate in the order of the calls. */
  sent(aggregateId: string): string[];
  /** The attempts of an event, in the order of the calls. */
  attempts(eventId: string): number[];
}

export function scriptedPublisher(): ScriptedPublisher {
  const published: PublishedEvent[] = [];
  const publisher: ScriptedPublisher = {
    published,
    script: () => undefined,
    publish: async (event, { signal }) => {
      published.push(event);
      return (await publisher.script(event, signal)) ?? { outcome: 'published' };
    },
    sent: (aggregateId) =>
      published.filter((event) => event.aggregateId === aggregateId).map(({ id }) => id),
    attempts: (eventId) =>
      published.filter(({ id }) => id === eventId).map(({ attempt }) => attempt),
  };
  return publisher;
}
