import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../functions/app.ts';
import { MEASURES } from '../../shared/metrics/measures.ts';
import { parsePrometheus, type ParsedSample } from '../metrics/support/parse-prometheus.ts';
import { createAppHarness, type AppHarness, type CallOptions } from './support/app-harness.ts';

let app: AppHarness;
beforeAll(async () => {
  app = await createAppHarness();
});
afterAll(() => app.close());

const ask = async (path: string, options?: CallOptions): Promise<Response> =>
  await createApp(app.deps()).fetch(await app.request('GET', path, options));

const scrape = async (path = '/metrics'): Promise<readonly ParsedSample[]> => {
  const response = await ask(path);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  return parsePrometheus(await response.text());
};

describe('S1.19 GET /metrics', () => {
  test('tells every measure of a deployment in use', async () => {
    await app.call('PUT', '/v1/queues/q', { body: { concurrency_limit: 5 } });
    const job = { queue: 'q', type: 't', payload: null };
    expect(await app.call('POST', '/v1/jobs', { body: job })).toMatchObject({ status: 201 });
    const samples = await scrape();
    expect(samples).toContainEqual({
      name: 'leasehold_jobs',
      labels: { queue: 'q', state: 'due' },
      value: 1,
    });
    const names = new Set(samples.map(({ name }) => name));
    // What has not happened yet has no samples.
    const absent = [
      'leasehold_claim_latency_seconds',
      'leasehold_run_seconds',
      'leasehold_completion_latency_seconds',
      'leasehold_retries',
      'leasehold_lost_reports',
      'leasehold_last_tick_timestamp_seconds',
    ];
    expect(Object.keys(MEASURES).filter((name) => !names.has(name))).toEqual(absent);
  });

  test('asks the database once however often it is scraped, and again only when asked to', async () => {
    await scrape();
    const before = app.http.endpoint.requests;
    for (let i = 0; i < 20; i += 1) await scrape();
    expect(app.http.endpoint.requests).toBe(before);
    await scrape('/metrics?fresh=1');
    expect(app.http.endpoint.requests).toBe(before + 1);
  });

  test('says so when the database is away', async () => {
    app.http.endpoint.faults.next({ kind: 'sql_error', code: 'XX000' });
    expect((await ask('/metrics?fresh=1')).status).toBe(500);
  });

  test('is for readers of all queues', async () => {
    expect((await ask('/metrics', { scope: null })).status).toBe(401);
    expect((await ask('/metrics', { scope: 'work' })).status).toBe(403);
    expect((await ask('/metrics', { queues: ['q'] })).status).toBe(403);
    expect((await ask('/metrics?fresh=yes')).status).toBe(400);
  });
});

describe('S1.19 GET /v1/overview', () => {
  test('shows a token for certain queues those alone', async () => {
    await app.call('PUT', '/v1/queues/mine', { body: {} });
    const { body } = await app.call('GET', '/v1/overview', { queues: ['mine', 'none'] });
    expect(body).toMatchObject({ queues: [{ name: 'mine' }], left_out: 0 });
    expect((await app.call('GET', '/v1/overview', { scope: 'work' })).status).toBe(403);
    const filtered = await app.call('GET', '/v1/overview?queue=mine');
    expect(filtered).toMatchObject({ status: 400, body: { problems: [{ path: 'queue' }] } });
  });
});
