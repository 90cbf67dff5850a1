import { SeededRandom } from './random.ts';

/** Queues of the simulated deployment, and their settings. */
export const QUEUES = {
  plain: { lease_seconds: 1 },
  keyed: { lease_seconds: 1 },
  loose: { lease_seconds: 2, on_dead: 'continue', key_concurrency: 2 },
  narrow: { lease_seconds: 1, concurrency_limit: 2, rate_limit: 20, rate_interval_ms: 1000 },
} as const;
export const QUEUE_NAMES = ['plain', 'keyed', 'loose', 'narrow'] as const;
export type QueueName = (typeof QUEUE_NAMES)[number];
/** Of every queue: short, so that much happens in a few simulated seconds. */
export const COMMON = {
  max_attempts: 4,
  max_unknown_attempts: 2,
  backoff_base_ms: 100,
  backoff_cap_ms: 1000,
  max_run_seconds: 8,
};

const JOBS = 40;

/** An event as the broker has it. */
export interface BrokerMessage {
  readonly id: string;
  readonly aggregate: string;
  readonly version: number;
}

/** What can go wrong in a run, and how often: a seed chooses. */
export interface Weather {
  /** Queues that get jobs, and how many keys they share: few of both make for much waiting. */
  readonly queues: readonly QueueName[];
  readonly keys: number;
  readonly workers: number;
  /** After so many steps everybody is killed, whatever they are at. */
  readonly mostSteps: number;
  /** Of calls: the request does not arrive; it does, and the answer is lost; the answer takes long. */
  readonly lostBefore: number;
  readonly lostAfter: number;
  readonly slow: number;
  /** How long a commit waits while others go on; and of producers, whose transactions stay open much longer. */
  readonly heldCommits: number;
  readonly lateCommits: number;
  /** Of steps: a process is killed; a connection is cut; all of them are, as when the database restarts. */
  readonly kills: number;
  readonly resets: number;
  readonly restarts: number;
  /** Of steps: a worker's own clock is set to another time. */
  readonly clockSteps: number;
  /** Of steps: time goes on by more than a lease. */
  readonly leaps: number;
  /** Of pokes. */
  readonly lostHints: number;
  readonly doubledHints: number;
  /** Who take escalated jobs; none: no queue escalates, and no worker asks. */
  readonly people: number;
  /** Queues that escalate, and the failure after which they do. */
  readonly escalateAfter: ReadonlyMap<QueueName, number>;
  /** Whether dead entries pile up behind old snapshots, as after days of work. */
  readonly deadEntries: boolean;
}

/** @param aside random numbers for what half of the seeds have */
export function weatherOf(random: SeededRandom, aside: SeededRandom): Weather {
  const rough = random.pick([0.3, 1, 1, 2]);
  const queues = QUEUE_NAMES.filter(() => random.chance(0.5));
  return {
    queues: queues.length > 0 ? queues : [random.pick(QUEUE_NAMES)],
    keys: random.between(1, 3),
    workers: random.between(3, 6),
    mostSteps: random.between(900, 2500),
    lostBefore: 0.03 * rough,
    lostAfter: 0.04 * rough,
    slow: 0.04 * rough,
    heldCommits: random.pick([0.2, 0.5, 0.7]),
    lateCommits: random.pick([0.1, 0.5]),
    kills: 0.003 * rough,
    resets: 0.003 * rough,
    restarts: random.chance(0.25) ? 0.0015 : 0,
    clockSteps: 0.004 * rough,
    leaps: random.pick([0, 0.003, 0.006, 0.012]),
    lostHints: random.pick([0.1, 0.3, 1]),
    doubledHints: 0.2,
    ...peopleOf(aside),
    deadEntries: random.chance(0.5),
  };
}

function peopleOf(random: SeededRandom): Pick<Weather, 'people' | 'escalateAfter'> {
  if (random.chance(0.5)) return { people: 0, escalateAfter: new Map() };
  const escalating = QUEUE_NAMES.filter(() => random.chance(0.7));
  return {
    people: random.between(1, 3),
    escalateAfter: new Map(escalating.map((queue) => [queue, random.between(1, 3)])),
  };
}

export const CALM: Weather = {
  queues: QUEUE_NAMES,
  keys: 1,
  workers: 1,
  mostSteps: 0,
  lostBefore: 0,
  lostAfter: 0,
  slow: 0,
  heldCommits: 0,
  lateCommits: 0,
  kills: 0,
  resets: 0,
  restarts: 0,
  clockSteps: 0,
  leaps: 0,
  lostHints: 1,
  doubledHints: 0,
  people: 0,
  escalateAfter: new Map(),
  deadEntries: false,
};

/** What happened, for people and for tests that ask whether a run came to anything. */
export interface Tally {
  steps: number;
  accepted: number;
  lostAnswers: number;
  kills: number;
  resets: number;
  restarts: number;
  leaps: number;
  /** Statements that waited for another transaction. */
  waits: number;
  retries: number;
  /** Calls that found their lease lost. */
  leasesLost: number;
  hintsLost: number;
  oldSnapshots: number;
}

/** What the actors of one run share: the seed's random numbers, the time, hints, and what the outside knows. */
export class World {
  readonly random: SeededRandom;
  weather: Weather;
  /** By all producers together. */
  jobsToAdd = JOBS;
  /** The clock of the database, in milliseconds since 1970. */
  now = 0;
  #untold = 0;
  /** Ids that the queue has said yes to. */
  readonly accepted = new Set<string>();
  /** Pokes that have not arrived yet. */
  readonly hints: QueueName[] = [];
  /** Everything that relays have published, in the order of its arrival; the same event more than once. */
  readonly broker: BrokerMessage[] = [];
  /** Idempotency keys that the outside world has acted on. */
  readonly outside = new Map<string, number>();
  readonly waitedMs = new Map<string, number>();
  readonly errors: string[] = [];
  readonly tally: Tally = {
    steps: 0,
    accepted: 0,
    lostAnswers: 0,
    kills: 0,
    resets: 0,
    restarts: 0,
    leaps: 0,
    waits: 0,
    retries: 0,
    leasesLost: 0,
    hintsLost: 0,
    oldSnapshots: 0,
  };
  readonly #log: string[] = [];

  constructor(seed: number) {
    this.random = new SeededRandom(seed);
    this.weather = weatherOf(this.random, new SeededRandom(~seed));
  }

  /** Time goes on; the database hears of it with the next transaction that begins or ends. */
  letPass(milliseconds: number): void {
    this.now += milliseconds;
    this.#untold += milliseconds;
  }

  passed(): number {
    const milliseconds = this.#untold;
    this.#untold = 0;
    return milliseconds;
  }

  uuid(random: SeededRandom): string {
    return random.uuidv7(this.now);
  }

  /** A poke after a commit: it may be lost, or come twice. */
  hint(queue: QueueName, random: SeededRandom): void {
    if (random.chance(this.weather.lostHints)) {
      this.tally.hintsLost += 1;
      return;
    }
    this.hints.push(queue);
    if (random.chance(this.weather.doubledHints)) this.hints.push(queue);
  }

  accept(id: string): void {
    this.accepted.add(id);
    this.tally.accepted = this.accepted.size;
  }

  /** A report that had to wait for the row of its job. */
  waited(job: string, milliseconds: number): void {
    if (milliseconds > (this.waitedMs.get(job) ?? 0)) this.waitedMs.set(job, milliseconds);
  }

  /** An error that no caller should ever see. */
  fail(actor: string, error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    this.errors.push(text);
    this.note(actor, `fails: ${text}`);
  }

  /** A line of what happens: the same seed writes the same lines. */
  note(actor: string, what: string): void {
    this.#log.push(`${String(this.tally.steps).padStart(5)}  ${actor}: ${what}`);
  }

  get log(): readonly string[] {
    return this.#log;
  }
}
