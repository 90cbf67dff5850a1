import { describe, expect, test } from 'vitest';
import { METRICS_KEPT_MS } from '../../shared/limits.ts';
import { createMemoryStore, KeptMetrics } from '../../shared/metrics/kept-metrics.ts';
import type { MetricsStore } from '../../shared/metrics/kept-metrics.ts';
import type { Metrics } from '../../shared/queue/metrics.ts';
import { ManualClock } from '../unit/support/manual-clock.ts';
import { someMetrics } from './support/some-metrics.ts';

const KEPT = { fresh: false };

interface Kept {
  readonly time: ManualClock;
  readonly source: KeptMetrics;
  readonly store: MetricsStore;
  /** The same store, met by a process that has just started. */
  restarted(): KeptMetrics;
  reads(): number;
}

function kept(options: { atMostMs?: number; read?: () => Promise<Metrics> } = {}): Kept {
  const time = new ManualClock();
  const store = createMemoryStore();
  let reads = 0;
  const read = async (): Promise<Metrics> => {
    reads += 1;
    return await (options.read?.() ?? Promise.resolve(someMetrics({ read_ms: reads })));
  };
  const make = (): KeptMetrics => new KeptMetrics({ store, clock: time, ...options, read });
  return { time, source: make(), store, restarted: make, reads: () => reads };
}

describe('S1.19 measures are kept until something changes', () => {
  test('a day of scrapes reads once', async () => {
    const { time, source, reads } = kept();
    for (let i = 0; i < 24 * 60; i += 1) {
      await source.read(KEPT);
      time.jump(60_000);
    }
    expect(reads()).toBe(1);
  });

  test('a change is told at the next asking, seconds after the last reading at the soonest', async () => {
    const { time, source, reads } = kept();
    await source.read(KEPT);
    await source.changed();
    time.jump(METRICS_KEPT_MS - 1);
    expect((await source.read(KEPT)).read_ms).toBe(1);
    time.jump(1);
    expect((await source.read(KEPT)).read_ms).toBe(2);
    time.jump(METRICS_KEPT_MS);
    await source.read(KEPT);
    expect(reads()).toBe(2);
  });

  test('whoever asks for a fresh reading gets one', async () => {
    const { source } = kept();
    await source.read(KEPT);
    expect((await source.read({ fresh: true })).read_ms).toBe(2);
    expect((await source.read(KEPT)).read_ms).toBe(2);
  });

  test('what is stored outlives the process: a change that was heard before is told after', async () => {
    const { time, source, restarted, reads } = kept();
    await source.read(KEPT);
    await source.changed();
    time.jump(METRICS_KEPT_MS);
    await restarted().read(KEPT);
    time.jump(METRICS_KEPT_MS);
    await restarted().read(KEPT);
    expect(reads()).toBe(2);
  });

  test('a change that comes while it reads is told by the next reading', async () => {
    const { time, source, reads } = kept({
      read: async () => {
        await source.changed();
        return someMetrics();
      },
    });
    await source.read(KEPT);
    time.jump(METRICS_KEPT_MS);
    await source.read(KEPT);
    expect(reads()).toBe(2);
  });

  test('while one reads, others are told what is kept', async () => {
    const gate = Promise.withResolvers<Metrics>();
    let first = true;
    const { time, source, reads } = kept({
      read: async () => {
        if (!first) return await gate.promise;
        first = false;
        return someMetrics({ read_ms: 1 });
      },
    });
    await source.read(KEPT);
    await source.changed();
    time.jump(METRICS_KEPT_MS);
    const slow = source.read(KEPT);
    expect((await source.read(KEPT)).read_ms).toBe(1);
    gate.resolve(someMetrics({ read_ms: 2 }));
    expect((await slow).read_ms).toBe(2);
    expect(reads()).toBe(2);
  });

  test('a reading that fails says so, and the next one reads again', async () => {
    let fails = false;
    const { time, source, reads } = kept({
      read: async () => {
        if (fails) throw new Error('away');
        return someMetrics();
      },
    });
    await source.read(KEPT);
    fails = true;
    await expect(source.read({ fresh: true })).rejects.toThrow('away');
    fails = false;
    time.jump(METRICS_KEPT_MS);
    await source.read(KEPT);
    expect(reads()).toBe(3);
  });

  test('what the store does not take is told, and not that which it has kept', async () => {
    const { time, source, store, reads } = kept();
    await source.read(KEPT);
    const { put } = store;
    Object.assign(store, {
      put: async (key: string, value: unknown) => {
        if (key === 'metrics') throw new Error('too large');
        await put(key, value);
      },
    });
    await source.changed();
    for (const reading of [2, 3]) {
      time.jump(METRICS_KEPT_MS);
      expect((await source.read(KEPT)).read_ms).toBe(reading);
    }
    expect(reads()).toBe(3);
  });

  test('many changes cost one note in the store', async () => {
    const { source, store } = kept();
    await source.read(KEPT);
    const notes: string[] = [];
    const { put } = store;
    Object.assign(store, {
      put: async (key: string, value: unknown) => {
        notes.push(key);
        await put(key, value);
      },
    });
    for (let i = 0; i < 100; i += 1) await source.changed();
    expect(notes).toHaveLength(1);
  });

  test('a process that may not hear of changes reads anew after its time', async () => {
    const { time, source, reads } = kept({ atMostMs: 3_600_000 });
    await source.read(KEPT);
    time.jump(3_599_999);
    await source.read(KEPT);
    expect(reads()).toBe(1);
    time.jump(1);
    await source.read(KEPT);
    expect(reads()).toBe(2);
  });
});
