export interface Cron {
  /** Resolves when a run in flight has ended. */
  stop(): Promise<void>;
}

/**
 * Calls `run` every `everyMs`, never twice at once: a tick that comes while a run is in flight is dropped. A failed run
 * is reported and does not end the cron.
 */
export function startCron(
  everyMs: number,
  run: () => Promise<void>,
  onFailure: (error: unknown) => void,
): Cron {
  let inFlight: Promise<void> | undefined;
  const tick = (): void => {
    inFlight ??= run()
      .catch(onFailure)
      .finally(() => {
        inFlight = undefined;
      });
  };
  const timer = setInterval(tick, everyMs);
  return {
    stop: async () => {
      clearInterval(timer);
      await inFlight;
    },
  };
}
