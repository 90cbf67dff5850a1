import { prometheusText, PROMETHEUS_MEDIA_TYPE } from '../../shared/metrics/prometheus-text.ts';
import { samplesOf } from '../../shared/metrics/samples.ts';
import { metricsQuery } from '../../shared/schemas/metrics-query.ts';
import { requireAllQueues } from '../middleware/queue-access.ts';
import { readQuery } from '../middleware/read-query.ts';
import type { Route } from './route.ts';

/** Every measure in the text format of Prometheus, from what was read last unless something has changed since. */
export const readMetricsRoute: Route = {
  method: 'GET',
  path: '/metrics',
  access: { kind: 'token', scope: 'read' },
  database: false, // whoever reads it looks at the schema first
  handle: async (context, deps) => {
    const { fresh } = readQuery(context, metricsQuery);
    requireAllQueues(context);
    const metrics = await deps.metrics.read({ fresh: fresh !== undefined });
    return context.body(prometheusText(samplesOf(metrics, deps.clock.now())), 200, {
      'content-type': PROMETHEUS_MEDIA_TYPE,
    });
  },
};
