/** Ends what was started, last first, once, whatever the reason: Ctrl-C, a signal, a failure. */

type Stop = () => Promise<void> | void;

export interface Shutdown {
  /** Registers something that has started. */
  add(name: string, stop: Stop): void;
  /** Stops everything; a second call waits for the first. */
  run(): Promise<void>;
}

/** A stop that hangs must not hold up the others for ever. */
const STOP_TIMEOUT_MS = 10_000;

export function createShutdown(onFailure: (name: string, error: unknown) => void): Shutdown {
  const stops: (readonly [name: string, stop: Stop])[] = [];
  let running: Promise<void> | undefined;
  const stopAll = async (): Promise<void> => {
    for (const [name, stop] of stops.toReversed()) {
      try {
        await within(STOP_TIMEOUT_MS, stop());
      } catch (error) {
        onFailure(name, error);
      }
    }
  };
  return {
    add: (name, stop) => void stops.push([name, stop]),
    run: () => (running ??= stopAll()),
  };
}

async function within(milliseconds: number, work: Promise<void> | void): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`does not stop within ${milliseconds} ms`)),
      milliseconds,
    );
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
