import { METRICS_KEPT_AT_MOST_MS } from '../../shared/limits.ts';
import { createMemoryStore, KeptMetrics } from '../../shared/metrics/kept-metrics.ts';
import type { MetricsSource, MetricsStore } from '../../shared/metrics/kept-metrics.ts';
import { readMetrics } from '../../shared/queue/metrics.ts';
import type { IsolateDeps } from '../deps.ts';
import { ensureSchema } from '../schema-gate.ts';

type Ports = Pick<IsolateDeps, 'sql' | 'clock' | 'schema'>;

/** Measures of the database, kept where all changes are heard of. */
export function createStoredMetrics(ports: Ports, store: MetricsStore): KeptMetrics {
  return new KeptMetrics({ store, clock: ports.clock, read: () => read(ports) });
}

/**
 * Measures that one isolate keeps for itself, where nothing outlives it. It hears of the changes that went through it alone,
 * so it reads anew after a while whatever it heard.
 */
export function createIsolateMetrics(ports: Ports): MetricsSource {
  return new KeptMetrics({
    store: createMemoryStore(),
    clock: ports.clock,
    read: () => read(ports),
    atMostMs: METRICS_KEPT_AT_MOST_MS,
  });
}

async function read({ sql, schema }: Ports): ReturnType<typeof readMetrics> {
  await ensureSchema(sql, schema);
  return await readMetrics(sql);
}
