import type { JobTimes, QueueSystem } from './systems/queue-system.ts';

export interface WorkMeasure {
  /** Completed jobs a second within the window. */
  readonly rate: number;
  /** Completed jobs within the window. */
  readonly jobs: number;
  /** With those of the ramp and of the end. */
  readonly allJobs: number;
  readonly claimMs: readonly number[];
  readonly totalMs: readonly number[];
  /** Each claim within the window that found nothing. */
  readonly emptyMs: readonly number[];
}

export interface WorkWindow {
  readonly clients: number;
  /** Thrown away, from the first completion on: connections open, plans and caches fill. */
  readonly rampSeconds: number;
  readonly seconds: number;
}

interface Moment {
  readonly at: number;
  readonly times: JobTimes;
}

/** No completion for so long: the backlog has run dry. */
const DRY_MS = 1000;
/** The first completion may take this long: a claim from a deep backlog does, in some systems. */
const FIRST_MS = 60_000;
const LOOK_EVERY_MS = 50;

/** Lets a system work for a while and counts what it completes after the ramp; ends early when the backlog runs dry. */
export async function measureWork(system: QueueSystem, window: WorkWindow): Promise<WorkMeasure> {
  const { clients, rampSeconds, seconds } = window;
  const stop = new AbortController();
  const completions: Moment[] = [];
  const empties: { readonly at: number; readonly ms: number }[] = [];
  const begun = performance.now();
  const look = setInterval(() => {
    const now = performance.now();
    const first = completions[0]?.at;
    const last = completions.at(-1)?.at ?? begun;
    const done = first !== undefined && now - first >= (rampSeconds + seconds) * 1000;
    // A claim may take seconds by itself; only a claim that found nothing shows a dry backlog.
    const dry = first !== undefined && now - last > DRY_MS && (empties.at(-1)?.at ?? 0) > last;
    if (done || dry || (first === undefined && now - begun > FIRST_MS)) stop.abort();
  }, LOOK_EVERY_MS);
  try {
    await system.work({
      clients,
      signal: stop.signal,
      onJob: (times) => void completions.push({ at: performance.now(), times }),
      onEmpty: (ms) => void empties.push({ at: performance.now(), ms }),
    });
  } finally {
    clearInterval(look);
  }
  return within(window, completions, empties);
}

/** A backlog that ran dry before the ramp was over is measured from its first completion. */
function within(
  { rampSeconds, seconds }: WorkWindow,
  completions: readonly Moment[],
  empties: readonly { readonly at: number; readonly ms: number }[],
): WorkMeasure {
  const first = completions[0]?.at ?? 0;
  const last = completions.at(-1)?.at ?? 0;
  const ramped = first + rampSeconds * 1000;
  const from = ramped < last ? ramped : first;
  const to = Math.min(from + seconds * 1000, last);
  const counted = completions.filter(({ at }) => at > from && at <= to);
  return {
    rate: to > from ? counted.length / ((to - from) / 1000) : 0,
    jobs: counted.length,
    allJobs: completions.length,
    claimMs: counted.flatMap(({ times }) => times.claimMs ?? []),
    totalMs: counted.flatMap(({ times }) => times.totalMs ?? []),
    emptyMs: empties.filter(({ at }) => at > from && at <= to).map(({ ms }) => ms),
  };
}

export interface ClaimSamples {
  /** So many, at most. */
  readonly claims: number;
  /** Not longer, where one claim takes seconds. */
  readonly seconds: number;
}

/** How long a claim takes, by one client that completes what it claims. */
export async function claimTimes(
  system: QueueSystem,
  { claims, seconds }: ClaimSamples,
): Promise<readonly number[]> {
  const stop = new AbortController();
  const found: number[] = [];
  let jobs = 0;
  const late = setTimeout(() => stop.abort(), seconds * 1000);
  try {
    await system.work({
      clients: 1,
      signal: stop.signal,
      onJob: ({ claimMs }) => {
        jobs += 1;
        if (jobs > IGNORED_CLAIMS && claimMs !== undefined) found.push(claimMs);
        if (found.length >= claims) stop.abort();
      },
    });
  } finally {
    clearTimeout(late);
  }
  return found;
}

/** How long a claim takes that finds nothing: `samples` of them, by one client. */
export async function emptyClaims(
  system: QueueSystem,
  samples: number,
): Promise<readonly number[]> {
  const stop = new AbortController();
  const found: number[] = [];
  await system.work({
    clients: 1,
    signal: stop.signal,
    onJob: () => undefined,
    onEmpty: (ms) => {
      found.push(ms);
      if (found.length >= samples + IGNORED_CLAIMS) stop.abort();
    },
  });
  return found.slice(IGNORED_CLAIMS);
}

/** The first claims of a connection plan their statements. */
const IGNORED_CLAIMS = 5;

/**
 * Enough backlog for a window, from the rate that the last one had: a quick system must not run dry, and a slow one need not
 * wait for a fill that it cannot use.
 */
export function backlogFor(
  window: WorkWindow,
  lastRate: number | undefined,
  least: number,
): number {
  return Math.max(least, Math.ceil((lastRate ?? 0) * (window.rampSeconds + window.seconds) * 1.5));
}

/** Adds what is missing to `count` due jobs. */
export async function fillTo(system: QueueSystem, count: number): Promise<void> {
  const missing = count - (await system.pending());
  if (missing > 0) await system.fill(missing);
}

/** Adds what is missing to `count` due jobs, then vacuums and analyzes. */
export async function topUp(system: QueueSystem, count: number): Promise<void> {
  await fillTo(system, count);
  await system.settle();
}
