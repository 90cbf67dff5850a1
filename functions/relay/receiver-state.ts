import { MAX_AWAY_IN_A_ROW } from '../../shared/limits.ts';
import type { PublishOutcome } from '../../shared/publish/publisher.ts';

/**
 * What a pass of the relay has seen of the receiver. One that could not be reached several times in a row is left alone
 * until the next pass: every further event would only fail as well, and be held for it.
 */
export class ReceiverState {
  #awayInARow = 0;

  note(outcome: PublishOutcome): void {
    if (outcome.outcome === 'failed' && outcome.away === true) this.#awayInARow += 1;
    else this.#awayInARow = 0; // it answered
  }

  get isAway(): boolean {
    return this.#awayInARow >= MAX_AWAY_IN_A_ROW;
  }
}
