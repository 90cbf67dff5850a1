/** What a history has to keep to. */
export const HISTORY_RULES = {
  leases_overlap: 'no two valid leases of a job overlap',
  tokens_grow: 'every claim of a job has a greater fencing token than the one before',
  accepted_is_kept: 'every accepted job is live, dead, with people or ended: one of them',
  ends_once: 'a job ends once, and nothing happens to it afterwards',
  no_lost_reports: 'nothing is reported under a lost lease',
  attempt_budget: 'attempts are counted, and none is made over the budget',
  ordering_key: 'jobs of an ordering key go one after another, in their order',
  dedup_key: 'a dedup key has one live job',
  aggregate_order:
    'events of an aggregate are published and applied in their order, and none is lost',
  shard_leases: 'no relay marks events of a shard that another has claimed since',
  effects_once: 'effects that are recorded with a job or an event are there once',
  log_rebuilds_state: 'the tables follow from the event log alone',
  nothing_left_behind: 'workers that find nothing to do have left no due job behind',
} as const;

export type HistoryRule = keyof typeof HISTORY_RULES;

export interface HistoryFault {
  readonly rule: HistoryRule;
  /** The id of the job, or null where an event or a key is at fault. */
  readonly job: string | null;
  readonly text: string;
}

export interface HistoryReport {
  readonly jobs: number;
  /** Rows of the event log. */
  readonly events: number;
  /** Attempts that have ended. */
  readonly attempts: number;
  readonly claims: number;
  /** Claims of people. */
  readonly holds: number;
  /** Leases that ran out. */
  readonly expiries: number;
  readonly live: number;
  readonly dead: number;
  /** With people, or waiting for one. */
  readonly escalated: number;
  readonly succeeded: number;
  readonly cancelled: number;
  /** Of the outbox: appended, and those that are published or skipped. */
  readonly appended: number;
  readonly published: number;
  /** Events that consumers have recorded. */
  readonly consumed: number;
  /** The first of them. */
  readonly faults: readonly HistoryFault[];
  readonly faultCount: number;
}

/** Counts, and keeps the first faults: a broken history may have as many as it has jobs. */
export class ReportBuilder {
  readonly counts = {
    jobs: 0,
    events: 0,
    attempts: 0,
    claims: 0,
    holds: 0,
    expiries: 0,
    live: 0,
    dead: 0,
    escalated: 0,
    succeeded: 0,
    cancelled: 0,
    appended: 0,
    published: 0,
    consumed: 0,
  };
  readonly #faults: HistoryFault[] = [];
  readonly #most: number;
  #faultCount = 0;

  constructor(most: number) {
    this.#most = most;
  }

  fault(rule: HistoryRule, job: string | null, text: string): void {
    this.#faultCount += 1;
    if (this.#faults.length < this.#most) this.#faults.push({ rule, job, text });
  }

  report(): HistoryReport {
    return { ...this.counts, faults: this.#faults, faultCount: this.#faultCount };
  }
}
