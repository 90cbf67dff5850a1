import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDeployment, type Deployment } from '../support/deployment.ts';
import { startCollector, type Collector } from '../tracing/support/collector.ts';

let deployment: Deployment;
let collector: Collector;
beforeAll(async () => {
  [deployment, collector] = await Promise.all([createDeployment(), startCollector()]);
});
afterAll(async () => {
  await deployment.close();
  await collector.close();
});

const JOB = {
  queue: 'reports',
  type: 'report.csv',
  payload: { rows: [{ city: 'Oslo', visits: 7 }] },
};

test('S1.19 spans of an enqueue and of the run behind it leave workerd after the answers', async () => {
  const worker = await deployment.start({
    OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/otlp/`,
    INSERT_POKES: 'off',
  });
  await worker.enqueue(JOB);
  expect(await worker.poke('reports')).toMatchObject({ outcome: 'succeeded' });
  const named = (name: string) => collector.spans.find((span) => span.name === name);
  await expect.poll(() => named('process reports')).toBeDefined();
  expect(named('process reports')).toMatchObject({
    traceId: named('POST /v1/jobs')?.traceId,
    parentSpanId: named('POST /v1/jobs')?.spanId,
    attributes: { 'service.name': 'leasehold', 'leasehold.outcome': 'succeeded' },
  });
  expect(new Set(collector.requests.map(({ path }) => path))).toEqual(new Set(['/otlp/v1/traces']));
});
