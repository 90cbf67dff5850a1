import type { Background } from '../background.ts';

/**
 * Work after the answer, on a platform that freezes the process with the answer: it is collected, and awaited before the
 * invocation ends.
 */
export class BackgroundTasks implements Background {
  readonly #tasks: Promise<void>[] = [];

  run(task: () => Promise<void>): void {
    this.#tasks.push(task());
  }

  /** Resolves when nothing is left, what tasks have started meanwhile included. */
  async done(): Promise<void> {
    for (let task = this.#tasks.shift(); task !== undefined; task = this.#tasks.shift()) await task;
  }
}
