/** Work that goes on after the answer, for as long as the platform lets it. It may be lost: hints only. */
export interface Background {
  /** Starts the task and keeps the invocation alive for it. The task must not reject. */
  run(task: () => Promise<void>): void;
}
