import { createMemoryStore, KeptMetrics } from '../../shared/metrics/kept-metrics.ts';
import type { MetricsSource } from '../../shared/metrics/kept-metrics.ts';
import { METRICS_KEPT_AT_MOST_MS } from '../../shared/limits.ts';
import { readMetrics } from '../../shared/queue/metrics.ts';
import type { IsolateDeps } from '../deps.ts';
import { ensureSchema } from '../schema-gate.ts';

/**
 * Measures that one isolate keeps for itself, where nothing outlives it. It hears of the changes that went through it alone,
 * so it reads anew after a while whatever it heard.
 */
export function createIsolateMetrics({
  sql,
  clock,
  schema,
}: Pick<IsolateDeps, 'sql' | 'clock' | 'schema'>): MetricsSource {
  return new KeptMetrics({
    store: createMemoryStore(),
    clock,
    read: async () => {
      await ensureSchema(sql, schema);
      return await readMetrics(sql);
    },
    atMostMs: METRICS_KEPT_AT_MOST_MS,
  });
}
