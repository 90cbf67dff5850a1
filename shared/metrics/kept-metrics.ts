import { METRICS_KEPT_MS } from '../limits.ts';
import type { Clock } from '../ports.ts';
import type { Metrics } from '../queue/metrics.ts';

/** Where measures come from. */
export interface MetricsSource {
  /** @param options.fresh read the database, whatever is kept */
  read(options: { readonly fresh: boolean }): Promise<Metrics>;
  /** Something has changed: a hint. */
  changed(): Promise<void>;
}

/** Keeps values between calls; it may forget them. */
export interface MetricsStore {
  get<Value>(key: string): Promise<Value | undefined>;
  put<Value>(key: string, value: Value): Promise<void>;
}

export interface KeptMetricsOptions {
  readonly store: MetricsStore;
  readonly clock: Clock;
  readonly read: () => Promise<Metrics>;
  /** Read anew after this time even where no change was heard of. Default: never. */
  readonly atMostMs?: number;
}

interface Kept {
  readonly metrics: Metrics;
  readonly readAt: number;
}

const KEPT = 'metrics';
const CHANGED = 'metrics_changed';

/**
 * Measures that were read once and are told until something has changed: a monitor that asks every few seconds asks this, and
 * a database that sleeps is left asleep. A change that nobody heard of is told late, by the next one that is heard of; each
 * scheduled look counts as one.
 *
 * @example const source = new KeptMetrics({ store: state.storage, clock, read: () => readMetrics(sql) });
 */
export class KeptMetrics implements MetricsSource {
  readonly #options: KeptMetricsOptions;
  /** Whether the store says so already: it is told once between two readings. */
  #changeNoted = false;
  #isReading = false;

  constructor(options: KeptMetricsOptions) {
    this.#options = options;
  }

  /** Something has changed: what is kept is told for a few seconds more at most. */
  async changed(): Promise<void> {
    if (this.#changeNoted) return;
    this.#changeNoted = true;
    const { store } = this.#options;
    if ((await store.get<boolean>(CHANGED)) !== true) await store.put(CHANGED, true);
  }

  async read({ fresh }: { readonly fresh: boolean }): Promise<Metrics> {
    const { store, clock, atMostMs = Number.POSITIVE_INFINITY } = this.#options;
    const kept = await store.get<Kept>(KEPT);
    if (kept !== undefined && !fresh) {
      const age = clock.now() - kept.readAt;
      const changed = age >= METRICS_KEPT_MS && ((await store.get<boolean>(CHANGED)) ?? false);
      if (this.#isReading || (!changed && age < atMostMs)) return kept.metrics;
    }
    return await this.#readAnew();
  }

  async #readAnew(): Promise<Metrics> {
    const { store, clock, read } = this.#options;
    this.#isReading = true;
    try {
      // Before the reading: what changes while it runs may not be in it.
      this.#changeNoted = false;
      await store.put(CHANGED, false);
      const readAt = clock.now();
      const metrics = await read();
      // What is too large for the store is told all the same, and read again next time.
      await store.put<Kept>(KEPT, { metrics, readAt }).catch(() => this.changed());
      return metrics;
    } catch (error) {
      await this.changed();
      throw error;
    } finally {
      this.#isReading = false;
    }
  }
}

/** A store that forgets with its process. */
export function createMemoryStore(): MetricsStore {
  const values = new Map<string, unknown>();
  return {
    get: async <Value>(key: string) => values.get(key) as Value | undefined,
    put: async (key, value) => {
      values.set(key, value);
    },
  };
}
