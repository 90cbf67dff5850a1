import { afterAll, beforeAll, expect, test } from 'vitest';
import { METRICS_KEPT_MS } from '../../shared/limits.ts';
import { parsePrometheus, type ParsedSample } from '../metrics/support/parse-prometheus.ts';
import { createDeployment, type DeployedWorker, type Deployment } from '../support/deployment.ts';

let deployment: Deployment;
let worker: DeployedWorker;
beforeAll(async () => {
  deployment = await createDeployment();
  worker = await deployment.start({ INSERT_POKES: 'off' });
});
afterAll(() => deployment.close());

const scrape = async (query = ''): Promise<readonly ParsedSample[]> =>
  parsePrometheus(await (await worker.request(`/metrics${query}`)).text());

const dueIn = (samples: readonly ParsedSample[], queue: string): number | undefined =>
  samples.find(
    ({ name, labels }) =>
      name === 'leasehold_jobs' && labels['queue'] === queue && labels['state'] === 'due',
  )?.value;

test(
  'S1.19 the durable object keeps the measures: scrapes leave the database alone until something has changed',
  { timeout: 60_000 },
  async () => {
    await worker.enqueue({ queue: 'kept', type: 't', payload: null });
    expect(dueIn(await scrape('?fresh=1'), 'kept')).toBe(1);
    const before = deployment.endpoint.requests;
    for (let i = 0; i < 20; i += 1) expect(dueIn(await scrape(), 'kept')).toBe(1);
    expect(deployment.endpoint.requests).toBe(before);

    await worker.enqueue({ queue: 'kept', type: 't', payload: null });
    const enqueued = deployment.endpoint.requests;
    // Told again once what is kept is old enough, and read once for that.
    await expect
      .poll(async () => dueIn(await scrape(), 'kept'), { timeout: 3 * METRICS_KEPT_MS })
      .toBe(2);
    expect(deployment.endpoint.requests).toBe(enqueued + 1);
  },
);

test('S1.19 a database that refuses is told as such, though the durable object asked it', async () => {
  deployment.endpoint.faults.next({ kind: 'sql_error', code: 'XX000' });
  const response = await worker.request('/metrics?fresh=1');
  expect(response.status).toBe(500);
  expect(await response.json()).toMatchObject({ code: 'database_error' });
});
