import type { JobTimes, QueueSystem } from './systems/queue-system.ts';

export interface WorkMeasure {
  /** Completed jobs a second within the window. */
  readonly rate: number;
  readonly jobs: number;
  readonly claimMs: readonly number[];
  readonly totalMs: readonly number[];
  /** Claims that found nothing within the window. */
  readonly empty: number;
  readonly emptyMs: readonly number[];
}

export interface WorkWindow {
  readonly clients: number;
  /** Thrown away: connections open, plans and caches fill. Counted from the first completion. */
  readonly rampSeconds: number;
  readonly seconds: number;
  /** Ends the window early, when the backlog must not run dry. */
  readonly jobs?: number;
}

/** Lets a system work for a while and counts what it completes after the ramp. */
export async function measureWork(system: QueueSystem, window: WorkWindow): Promise<WorkMeasure> {
  const stop = new AbortController();
  const claimMs: number[] = [];
  const totalMs: number[] = [];
  const emptyMs: number[] = [];
  let jobs = 0;
  let first: number | undefined;
  let begun: number | undefined;
  let ended: number | undefined;
  const onJob = (times: JobTimes): void => {
    const now = performance.now();
    first ??= now;
    if (ended !== undefined || now - first < window.rampSeconds * 1000) return;
    if (begun === undefined) {
      begun = now;
      return;
    }
    jobs += 1;
    if (times.claimMs !== undefined) claimMs.push(times.claimMs);
    if (times.totalMs !== undefined) totalMs.push(times.totalMs);
    if (jobs === window.jobs || now - begun >= window.seconds * 1000) {
      ended = now;
      stop.abort();
    }
  };
  const onEmpty = (ms: number): void => {
    if (begun !== undefined && ended === undefined) emptyMs.push(ms);
  };
  // A system that completes nothing any more must end too.
  const deadline = setTimeout(
    () => stop.abort(),
    (window.rampSeconds + window.seconds) * 1000 + GRACE_MS,
  );
  try {
    await system.work({ clients: window.clients, signal: stop.signal, onJob, onEmpty });
  } finally {
    clearTimeout(deadline);
  }
  const seconds = begun === undefined ? 0 : ((ended ?? performance.now()) - begun) / 1000;
  return {
    rate: seconds === 0 ? 0 : jobs / seconds,
    jobs,
    claimMs,
    totalMs,
    empty: emptyMs.length,
    emptyMs,
  };
}

const GRACE_MS = 15_000;
