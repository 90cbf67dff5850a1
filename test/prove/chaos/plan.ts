/** How long jobs and events are kept once retention is on, in minutes: longer than two checks are apart. */
export const RETENTION_MINUTES = 3;
/** The queues of the run; a lease in each lasts as long. */
export const LEASE_SECONDS = 4;
export const HANDLER_QUEUE = 'http';
export const PUSH_QUEUE = 'pushed';
export const PULL_QUEUE = 'pulled';
export const CONSUMER = 'ledger';

/** What the run has to reach, so that its verdict means something. */
export interface Plan {
  readonly minutes: number;
  readonly seed: number;
  readonly workers: number;
  readonly jobs: number;
  /** What producers keep to together: without it the load, and with it all sizes, would follow the machine's mood. */
  readonly jobsPerSecond: number;
  readonly kills: number;
  readonly serverKills: number;
  readonly lostAnswers: number;
  /** Between two kills of Workers, of Postgres, of PgBouncer; between two faults of the endpoint; in milliseconds, about. */
  readonly killEveryMs: number;
  readonly serverKillEveryMs: number;
  readonly poolerKillEveryMs: number;
  readonly faultEveryMs: number;
  readonly checkEveryMs: number;
}

const MINUTE = 60_000;

/** The bars of a run of 20 minutes, in proportion. */
export function planFor(minutes: number, seed: number): Plan {
  const share = minutes / 20;
  return {
    minutes,
    seed,
    workers: 3,
    jobs: Math.round(100_000 * share),
    jobsPerSecond: 100,
    kills: Math.round(200 * share),
    serverKills: Math.max(1, Math.floor(10 * share)),
    lostAnswers: Math.round(2000 * share),
    killEveryMs: 3200,
    serverKillEveryMs: Math.min(1.5 * MINUTE, (minutes * MINUTE) / 3),
    poolerKillEveryMs: 2 * MINUTE,
    faultEveryMs: 180,
    checkEveryMs: MINUTE,
  };
}
