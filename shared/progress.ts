import { MAX_PROGRESS_CHARS } from './limits.ts';
import type { Clock } from './ports.ts';
import { safeText } from './safe-text.ts';

/**
 * Evidence that a handler is getting somewhere. A lease is renewed only on evidence: a marker that moved since the
 * last beat, or being within the step time that the handler declared. A handler that hangs for ever earns neither, so
 * its lease runs out although its process is alive.
 */
export class Progress {
  readonly #clock: Clock;
  readonly #stepMs: number;
  #marker: string | undefined;
  #movedAt: number;
  #moves = 0;
  #movesSent = 0;

  constructor(clock: Clock, stepSeconds: number) {
    this.#clock = clock;
    this.#stepMs = stepSeconds * 1000;
    this.#movedAt = clock.now();
  }

  /** A marker equal to the last one is no news. */
  report(marker: string | number): void {
    const text = safeText(String(marker), MAX_PROGRESS_CHARS);
    if (text === this.#marker) return;
    this.#marker = text;
    this.#movedAt = this.#clock.now();
    this.#moves += 1;
  }

  /** The latest marker, if any was given. */
  get marker(): string | undefined {
    return this.#marker;
  }

  /** Whether a renewal is earned now. */
  hasEvidence(): boolean {
    return this.#moves > this.#movesSent || this.#clock.now() - this.#movedAt < this.#stepMs;
  }

  /** Remembers what the beat about to be sent reports, so that the same move is not evidence twice. */
  takeEvidence(): { readonly progress?: string } {
    this.#movesSent = this.#moves;
    return this.#marker === undefined ? {} : { progress: this.#marker };
  }
}
