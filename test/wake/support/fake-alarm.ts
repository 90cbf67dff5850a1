import type { AlarmStorage } from '../../../functions/wake/alarm-clock.ts';

/** Tries that the platform gives a handler that fails; then the alarm is gone. */
const MAX_TRIES = 7;

export interface FakeAlarmOptions {
  readonly now: () => number;
  /** What the object does when its alarm rings. */
  readonly ring: () => Promise<void>;
}

/**
 * Storage with one alarm, as a durable object has it: the alarm is gone while it rings unless it is set meanwhile, never
 * rings twice at a time, and a handler that fails is tried again six times and then no more. Rings when it is told to.
 */
export class FakeAlarm implements AlarmStorage {
  readonly #options: FakeAlarmOptions;
  readonly #values = new Map<string, unknown>();
  #alarm: number | null = null;
  #failures = 0;
  /** How often it was set, and how often it rang. */
  sets = 0;
  rings = 0;

  constructor(options: FakeAlarmOptions) {
    this.#options = options;
  }

  get alarm(): number | null {
    return this.#alarm;
  }

  async get<Value>(key: string): Promise<Value | undefined> {
    return this.#values.get(key) as Value | undefined;
  }

  async put<Value>(key: string, value: Value): Promise<void> {
    this.#values.set(key, value);
  }

  async getAlarm(): Promise<number | null> {
    return this.#alarm;
  }

  async setAlarm(at: number): Promise<void> {
    this.sets += 1;
    this.#failures = 0;
    this.#alarm = at;
  }

  async deleteAlarm(): Promise<void> {
    this.#alarm = null;
  }

  /** Rings if it is time; true when it did. */
  async ringIfDue(): Promise<boolean> {
    if (this.#alarm === null || this.#alarm > this.#options.now()) return false;
    const at = this.#alarm;
    this.#alarm = null;
    this.rings += 1;
    const { ring } = this.#options;
    await ring().catch(() => {
      this.#failures += 1;
      if (this.#alarm === null && this.#failures < MAX_TRIES) this.#alarm = at;
    });
    return true;
  }

  /** All that it kept is gone. */
  wipe(): void {
    this.#values.clear();
    this.#alarm = null;
  }

  /** The alarm alone is gone, as after its sixth failure. */
  lose(): void {
    this.#alarm = null;
  }

  /** As if `milliseconds` had passed: every instant lies so much further back. */
  age(milliseconds: number): void {
    if (this.#alarm !== null) this.#alarm -= milliseconds;
    const lookedAt = this.#values.get('looked_at');
    if (typeof lookedAt === 'number') this.#values.set('looked_at', lookedAt - milliseconds);
  }
}
