import type { EventRow } from './job-rows.ts';
import {
  STEPS,
  STEPS_OF_ASKING,
  STEPS_OF_PEOPLE,
  type ReplayState,
  type Step,
} from './job-steps.ts';
import type { HistoryRule } from './report.ts';

/** An attempt that ended, as the log tells it. */
export interface EndedAttempt {
  readonly token: number;
  readonly attempt: number;
  readonly owner: string;
  readonly outcome: string;
}

type Fault = (rule: HistoryRule, text: string) => void;

/** Rounding of the instants that the log has as text. */
const ROUNDING_MS = 2;
const ENDED: readonly ReplayState[] = ['succeeded', 'cancelled'];

/** Somebody holds it. */
const HELD: readonly ReplayState[] = ['running', 'held'];

/** Attempts that a job may have, where they are known. */
export interface Budget {
  readonly attempts: number | undefined;
  /** Where its queue escalates: the failure that hands it to a person. */
  readonly escalateAfter: number | null | undefined;
}

/** The state of one job, from its log alone; what cannot have happened is told to `fault`, and the replay goes on. */
export class JobReplay {
  state: ReplayState = 'none';
  token = 0;
  attempt = 0;
  owner: string | null = null;
  redrives = 0;
  unknownFailures = 0;
  claims = 0;
  /** Claims of people. */
  holds = 0;
  expiries = 0;
  cancelRequested = false;
  /** Whether an ordering key let it go. */
  unparked = false;
  /** When its lease runs out. */
  leaseUntil = 0;
  readonly ended: EndedAttempt[] = [];
  readonly effects = new Map<string, string>();
  readonly #fault: Fault;
  readonly #graceMs: number;
  #before = '';

  /** @param graceMs how late a report may be stamped: the clock is read once more after the check of the lease */
  constructor(fault: Fault, graceMs: number) {
    this.#fault = fault;
    this.#graceMs = graceMs;
  }

  add(event: EventRow, budget: Budget): void {
    const { type } = event;
    const byPerson = event.details?.['lane'] === 'human';
    const step = this.#stepOf(type, byPerson);
    if (step === undefined) return this.#fault('log_rebuilds_state', `unknown event ${type}`);
    const calledOff = type !== 'cancelled' || this.state === 'pending' || this.#isCalledOff();
    if (!step.from.includes(this.state) || !calledOff) this.#impossible(event, step);
    if (step.report === true) this.#checkReport(event);
    if (step.outcome !== undefined && HELD.includes(this.state)) {
      const { token, owner } = this;
      const attempt = this.attempt + Number(byPerson);
      this.ended.push({ token, attempt, owner: owner ?? '', outcome: step.outcome });
    }
    if (byPerson && type === 'claimed') this.#takeHold(event);
    else if (byPerson && type === 'completed') this.attempt += 1;
    else if (!byPerson || type !== 'released') this.#apply(event, budget);
    if (step.to !== undefined) this.state = step.to;
    if (!HELD.includes(this.state)) this.owner = null;
    this.#before = type;
  }

  #stepOf(type: string, byPerson: boolean): Step | undefined {
    if (byPerson) return STEPS_OF_PEOPLE[type];
    const asked = this.state === 'running' ? STEPS_OF_ASKING[type] : undefined;
    return asked ?? STEPS[type];
  }

  #isCalledOff(): boolean {
    return this.cancelRequested && (this.#before === 'completed' || this.state === 'running');
  }

  #apply(event: EventRow, budget: Budget): void {
    switch (event.type) {
      case 'claimed':
        return this.#claim(event, budget);
      case 'heartbeat':
      case 'progressed':
        this.leaseUntil = Date.parse(text(event.details?.['lease_expires_at']));
        return;
      case 'cancel_requested':
        this.cancelRequested = true;
        return;
      case 'snoozed':
      case 'released':
        // One that was called off ends with the attempt, and keeps the count.
        if (!this.cancelRequested) this.attempt -= 1;
        return;
      case 'failed':
        if (event.details?.['class'] === 'unknown') this.unknownFailures += 1;
        return;
      case 'lease_expired':
        this.expiries += 1;
        if (event.at + ROUNDING_MS < this.leaseUntil) {
          const early = Math.round(this.leaseUntil - event.at);
          this.#fault(
            'leases_overlap',
            `lease ${this.token} was ended ${early} ms before its time`,
          );
        }
        return;
      case 'redriven':
        this.redrives += 1;
        this.attempt = 0;
        this.unknownFailures = 0;
        this.cancelRequested = false;
        this.unparked = false;
        return;
      case 'unparked':
        this.unparked = true;
        return;
      case 'effect_started':
      case 'effect_done':
      case 'effect_settled':
        return this.#effect(event);
      default:
    }
  }

  #takeHold({ at, token, actor, details }: EventRow): void {
    this.holds += 1;
    this.#raiseToken(token);
    this.owner = actor;
    this.leaseUntil = at + Number(details?.['lease_seconds']) * 1000;
  }

  #raiseToken(token: number | null): void {
    const its = token ?? 0;
    if (its <= this.token) this.#fault('tokens_grow', `claimed under ${its} after ${this.token}`);
    this.token = its;
  }

  #claim({ at, token, actor, details }: EventRow, budget: Budget): void {
    this.claims += 1;
    this.#raiseToken(token);
    this.attempt += 1;
    this.owner = actor;
    this.leaseUntil = at + Number(details?.['lease_seconds']) * 1000;
    const attempt = Number(details?.['attempt']);
    if (attempt !== this.attempt) {
      this.#fault(
        'attempt_budget',
        `claim ${token} is attempt ${attempt}, by the log ${this.attempt}`,
      );
      this.attempt = attempt;
    }
    const { attempts = Infinity, escalateAfter } = budget;
    if (this.attempt > attempts) {
      this.#fault('attempt_budget', `attempt ${this.attempt} of ${attempts}`);
    }
    if (this.attempt > (escalateAfter ?? Infinity)) {
      const late = `attempt ${this.attempt}, a person's turn was after ${escalateAfter}`;
      this.#fault('attempt_budget', late);
    }
  }

  #checkReport({ type, at, token, actor, details }: EventRow): void {
    if (!HELD.includes(this.state)) return; // told already
    const lost = (why: string): void => this.#fault('no_lost_reports', `${type}: ${why}`);
    if (token !== this.token) lost(`under token ${token}, the job was claimed under ${this.token}`);
    if (actor !== this.owner) lost(`by ${actor}, the job was claimed by ${this.owner}`);
    if (at > this.leaseUntil + ROUNDING_MS + this.#graceMs) {
      lost(`${Math.round(at - this.leaseUntil)} ms after the lease ran out`);
    }
    const said = ['question', 'note', 'progress', 'reason'].map((what) => details?.[what]);
    const signed = said.map(signedToken).find((its) => its !== undefined);
    if (signed !== undefined && signed !== this.token) {
      lost(`sent by the holder of ${signed}, taken for that of ${this.token}`);
    }
  }

  #effect({ type, details }: EventRow): void {
    const key = text(details?.['key']);
    const before = this.effects.get(key);
    if (type === 'effect_started' && before !== undefined && before !== 'not_done') {
      this.#fault('effects_once', `effect ${key} was started again, it was ${before}`);
    }
    if (type !== 'effect_started' && before === undefined) {
      this.#fault('effects_once', `effect ${key} ended before it began`);
    }
    this.effects.set(key, type === 'effect_started' ? 'started' : text(details?.['state']));
  }

  #impossible({ type, token }: EventRow, step: Step): void {
    const after = `${type} (token ${token}) after the job was ${this.state} (token ${this.token})`;
    if (type === 'claimed' && HELD.includes(this.state)) this.#fault('leases_overlap', after);
    else if (ENDED.includes(this.state)) this.#fault('ends_once', after);
    else if (step.report === true) this.#fault('no_lost_reports', after);
    else this.#fault('log_rebuilds_state', after);
  }
}

/**
 * The token that a report says it comes from: `fencing_token` of a result or an error, `token 3 …` as a reason or a marker.
 * Reports need not say so; where they do, one that was taken for another's is seen.
 */
export function signedToken(report: unknown): number | undefined {
  if (typeof report === 'string') {
    const [, token] = /^token (\d+)\b/.exec(report) ?? [];
    return token === undefined ? undefined : Number(token);
  }
  if (typeof report !== 'object' || report === null) return undefined;
  const token: unknown = Reflect.get(report, 'fencing_token');
  return token === undefined ? undefined : Number(token);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
