import { waitAtMost } from '../../shared/bounded-wait.ts';
import { inParallel } from '../../shared/in-parallel.ts';
import { MAX_CONCURRENT_PUBLISHES, PUBLISH_TIMEOUT_MS } from '../../shared/limits.ts';
import type { PublishedEvent } from '../../shared/published-event.ts';
import type { PublishResult } from '../../shared/outbox/settle-events.ts';
import type { Clock, Log, Timer } from '../../shared/ports.ts';
import type { PublishOutcome, Publisher } from '../../shared/publish/publisher.ts';
import type { ReceiverState } from './receiver-state.ts';

export interface PublishBatchDeps {
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly log: Log;
}

export interface PublishBatchInput {
  /** Of one aggregate in the order of their versions. */
  readonly events: readonly PublishedEvent[];
  readonly receiver: ReceiverState;
  /** Local milliseconds after which no further event is started. */
  readonly startUntil: number;
  /** The lease is lost, or the time is up: what is under way counts as unknown. */
  readonly signal: AbortSignal;
}

/**
 * Publishes claimed events: one after another within an aggregate, aggregates side by side. Behind an event that did not go
 * out its aggregate stops; the others go on. Never rejects.
 *
 * @returns what became of those that were tried and answered; the others stay to be published
 */
export async function publishBatch(
  deps: PublishBatchDeps,
  input: PublishBatchInput,
): Promise<PublishResult[]> {
  const results: PublishResult[] = [];
  const aggregates = Map.groupBy(input.events, (event) =>
    JSON.stringify([event.aggregateType, event.aggregateId]),
  );
  await inParallel([...aggregates.values()], MAX_CONCURRENT_PUBLISHES, async (events) => {
    for (const event of events) {
      if (mustStop(deps, input)) return;
      const outcome = await publishOne(deps, event, input.signal);
      // A failure that the relay's own end has made says nothing: it may be out. An answer that came says all.
      if (outcome.outcome !== 'published' && input.signal.aborted) return;
      input.receiver.note(outcome);
      results.push(resultOf(event, outcome));
      if (outcome.outcome !== 'published') return;
    }
  });
  return results;
}

function mustStop({ clock }: PublishBatchDeps, input: PublishBatchInput): boolean {
  return input.signal.aborted || input.receiver.isAway || clock.now() >= input.startUntil;
}

/** Never rejects, and ends in time whatever the publisher does. */
async function publishOne(
  { publisher, timer, log }: PublishBatchDeps,
  event: PublishedEvent,
  signal: AbortSignal,
): Promise<PublishOutcome> {
  const answer = await waitAtMost(
    timer,
    PUBLISH_TIMEOUT_MS,
    async (over) => await publisher.publish(event, { signal: over }),
    signal,
  );
  switch (answer.kind) {
    case 'value':
      return answer.value;
    case 'error':
      log.error('publisher_failed', {
        event_id: event.id,
        error_name: answer.error instanceof Error ? answer.error.name : typeof answer.error,
      });
      // The text of an unknown error may hold anything.
      return failed('publisher_failed', 'The publisher failed without an answer.');
    case 'timeout':
    case 'aborted':
      return { ...failed('timeout', 'The receiver did not answer in time.'), away: true };
  }
}

function failed(code: string, message: string): PublishOutcome & { outcome: 'failed' } {
  return { outcome: 'failed', error: { code, message } };
}

function resultOf(event: PublishedEvent, outcome: PublishOutcome): PublishResult {
  if (outcome.outcome === 'published') return { id: event.id, outcome: 'published' };
  return { ...outcome, id: event.id, attempt: event.attempt };
}
