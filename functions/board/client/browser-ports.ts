/** The one place where the board meets the browser's clock, timers and chance. */
export function nowMs(): number {
  return Date.now();
}

export function random(): number {
  return Math.random();
}

export function newClaimId(): string {
  return crypto.randomUUID();
}

/** Ends after this time, or at once when the signal fires. */
export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
    return undefined;
  });
}

/** @returns what ends it */
export function everySecond(tick: () => void): () => void {
  const timer = setInterval(tick, 1000);
  return () => clearInterval(timer);
}
