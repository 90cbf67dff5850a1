import { describe, expect, test } from 'vitest';
import { MEASURES, type Sample } from '../../shared/metrics/measures.ts';
import { prometheusText } from '../../shared/metrics/prometheus-text.ts';
import { samplesOf } from '../../shared/metrics/samples.ts';
import type { Metrics } from '../../shared/queue/metrics.ts';
import { parsePrometheus } from './support/parse-prometheus.ts';
import { READ_AT, secondsBefore, someMetrics, someQueue } from './support/some-metrics.ts';

const valuesOf = (
  samples: readonly Sample[],
  name: string,
): readonly (readonly [object, number])[] =>
  samples.filter((one) => one.name === name).map(({ labels, value }) => [labels, value]);

const BUSY: Metrics = someMetrics({
  queues: [
    someQueue({
      first_due_at: secondsBefore(90),
      first_lease_end_at: secondsBefore(-10),
      oldest_dead_at: secondsBefore(3600),
      running: 3,
      expired: 1,
      concurrency_limit: 8,
    }),
  ],
  recent: {
    from: secondsBefore(20),
    queues: {
      emails: {
        transitions: { completed: 50, redriven: 1 },
        claim_ms: { count: 50, p50: 100, p95: 200, p99: 300.5 },
        run_ms: null,
        total_ms: null,
        retries: [
          { code: 'timeout', attempt: 2, count: 4 },
          { code: null, attempt: null, count: 9 },
        ],
      },
    },
  },
  lost: [{ queue: 'emails', kind: 'complete', count: 2 }],
});

describe('S1.19 samples of measures', () => {
  test('ages grow while nothing is read, and a delayed job becomes due', () => {
    const metrics = someMetrics({
      queues: [
        someQueue({
          first_due_at: secondsBefore(-60),
          first_lease_end_at: secondsBefore(-30),
          oldest_dead_at: secondsBefore(10),
          oldest_escalated_at: secondsBefore(5),
        }),
      ],
    });
    const agesAt = (nowMs: number): readonly number[] =>
      samplesOf(metrics, nowMs)
        .filter(({ name }) => /^leasehold_oldest_.*_age_seconds$/.test(name))
        .map(({ value }) => value);
    expect(agesAt(READ_AT)).toEqual([0, 0, 10, 5]);
    expect(agesAt(READ_AT + 100_000)).toEqual([40, 70, 110, 105]);
  });

  test('rates are over the time that was read', () => {
    const samples = samplesOf(BUSY, READ_AT);
    expect(valuesOf(samples, 'leasehold_window_seconds')).toEqual([[{}, 20]]);
    expect(valuesOf(samples, 'leasehold_transitions_per_second')).toContainEqual([
      { queue: 'emails', type: 'completed' },
      2.5,
    ]);
    expect(valuesOf(samples, 'leasehold_transitions_per_second')).toContainEqual([
      { queue: 'emails', type: 'failed' },
      0,
    ]);
    expect(valuesOf(samples, 'leasehold_claim_latency_seconds')).toEqual([
      [{ queue: 'emails', quantile: '0.5' }, 0.1],
      [{ queue: 'emails', quantile: '0.95' }, 0.2],
      [{ queue: 'emails', quantile: '0.99' }, 0.3005],
    ]);
    expect(valuesOf(samples, 'leasehold_retries')).toEqual([
      [{ queue: 'emails', code: 'timeout', attempt: '2' }, 4],
      [{ queue: 'emails', code: 'other', attempt: 'other' }, 9],
    ]);
    expect(valuesOf(samples, 'leasehold_lost_reports')).toEqual([
      [{ queue: 'emails', kind: 'complete' }, 2],
    ]);
    expect(valuesOf(samples, 'leasehold_queue_saturation_ratio')).toEqual([
      [{ queue: 'emails' }, 0.5],
    ]);
  });

  test('what happened in the window is forgotten once it lies behind it', () => {
    const samples = samplesOf(BUSY, READ_AT + 300_000);
    expect(valuesOf(samples, 'leasehold_transitions_per_second')).toContainEqual([
      { queue: 'emails', type: 'completed' },
      0,
    ]);
    for (const name of ['claim_latency_seconds', 'retries', 'lost_reports']) {
      expect(valuesOf(samples, `leasehold_${name}`)).toEqual([]);
    }
    expect(valuesOf(samples, 'leasehold_oldest_due_age_seconds')).toEqual([
      [{ queue: 'emails' }, 390],
    ]);
  });

  test('each sample has the labels that its measure says', () => {
    for (const { name, labels } of samplesOf(BUSY, READ_AT)) {
      expect([name, Object.keys(labels)]).toEqual([name, MEASURES[name].labels]);
    }
  });
});

describe('the text format', () => {
  test('is read back as it was written, whatever a name holds', () => {
    const name = 'a "b" \\ c\nd {e="f"} ü';
    const samples = samplesOf(someMetrics({ queues: [someQueue({ name })] }), READ_AT);
    const parsed = parsePrometheus(prometheusText(samples));
    expect(parsed).toEqual([...samples].sort(byFirstOf(samples)));
  });
});

/** Samples of a name stand together, in the order in which their names first came. */
function byFirstOf(samples: readonly Sample[]): (a: Sample, b: Sample) => number {
  const names = [...new Set(samples.map(({ name }) => name))];
  return (a, b) => names.indexOf(a.name) - names.indexOf(b.name);
}
