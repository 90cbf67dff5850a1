import type { StopReason } from './keep-lease.ts';

/**
 * The reason of a handler's signal: why it must stop. Like every abort it is a `DOMException` named `AbortError`.
 *
 * @example if (signal.reason instanceof JobStopped && signal.reason.why === 'cancelled') await undo();
 */
export class JobStopped extends DOMException {
  readonly why: StopReason;

  constructor(why: StopReason) {
    super(`The job must stop: ${why}.`, 'AbortError');
    this.why = why;
  }
}
