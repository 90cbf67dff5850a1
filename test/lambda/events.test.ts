/** Events that are no requests, in the bundle: what fails is tried again, and ends where a person sees it. */
import { afterEach, describe, expect, test } from 'vitest';
import { createLambdaStack } from './support/stack.ts';
import type { LambdaStack, StackOptions } from './support/stack.ts';

/** Of tests that wait for a schedule: the grid alone is ten seconds. */
const SLOW_MS = 60_000;
const JOB = { queue: 'reports', type: 'report.csv', payload: { rows: [{ a: 1 }] } };

let stack: LambdaStack;
const deploy = async (options: StackOptions = {}): Promise<LambdaStack> => {
  stack = await createLambdaStack(options);
  return stack;
};
afterEach(() => stack.close());

/** Names of the events that were logged. */
function logged(): string[] {
  return stack.logs.map((line) => (JSON.parse(line) as { readonly event: string }).event);
}

async function counts(): Promise<{ readonly live: number; readonly done: number }> {
  const { rows } = await stack.database.pool.query<{ live: number; done: number }>(
    `select (select count(*)::int from leasehold.job_state) as live,
       (select count(*)::int from leasehold.finished_jobs) as done`,
  );
  return rows[0] ?? { live: -1, done: -1 };
}

describe('C.1 a scheduler event', () => {
  test('drains, and is never answered as a request', async () => {
    await deploy({ env: { INSERT_POKES: 'off' } });
    const id = await stack.enqueue(JOB);
    const before = logged().length;
    expect(await stack.worker.invoke({ leasehold: 'drain' })).toEqual({
      kind: 'returned',
      result: null,
    });
    expect(logged().slice(before)).toEqual(['drained', 'retained']);
    // What the alarm of the stack goes by: whole seconds, few here even where the machine is slow.
    const drained = JSON.parse(stack.logs[before] ?? '') as { readonly oldest_due_seconds: number };
    expect(drained).toMatchObject({ pokes: 1 });
    expect([...Array(120).keys()]).toContain(drained.oldest_due_seconds);
    await stack.cloud.settled();
    expect(await stack.job(id)).toMatchObject({ state: 'succeeded' });
  });

  test('whose drain fails throws, is tried again by Lambda, and works then', async () => {
    await deploy();
    stack.endpoint.faults.next({ kind: 'sql_error', code: '42501' }, { match: /schema_version/ });
    stack.cloud.invokeAsync('leasehold-worker', { leasehold: 'drain' });
    await stack.cloud.settled();
    expect(logged()).toEqual(['invocation_failed', 'drained', 'retained']);
    expect(stack.cloud.deadLetters).toEqual([]);
  });

  test.each<[string, unknown]>([
    ['whose drain fails to the end', { leasehold: 'drain' }],
    ['whose poke fails to the end', { leasehold: 'poke', queue: 'reports', depth: 0 }],
  ])('%s is kept', async (_name, event) => {
    await deploy();
    stack.endpoint.faults.next({ kind: 'sql_error', code: '42501' }, { times: 3 });
    stack.cloud.invokeAsync('leasehold-worker', event);
    await stack.cloud.settled();
    expect(stack.cloud.deadLetters).toEqual([event]);
    expect(logged().filter((one) => one === 'invocation_failed')).toHaveLength(3);
  });

  test('of a shape that is not known is kept, and nothing is served for it', async () => {
    await deploy();
    const event = { Records: [{ eventSource: 'aws:sqs', body: '{}' }] };
    stack.cloud.invokeAsync('leasehold-worker', event);
    await stack.cloud.settled();
    expect(stack.cloud.deadLetters).toEqual([event]);
    expect(logged()).toEqual(['invocation_failed', 'invocation_failed', 'invocation_failed']);
    expect(stack.endpoint.requests).toBe(0);
  });

  test('doubled and tripled at once: one run a job', async () => {
    await deploy({ env: { INSERT_POKES: 'off' } });
    const ids = [await stack.enqueue(JOB), await stack.enqueue(JOB)];
    for (let sent = 0; sent < 3; sent += 1) {
      stack.cloud.invokeAsync('leasehold-worker', { leasehold: 'drain' });
    }
    await stack.cloud.settled();
    for (const id of ids) {
      expect(await stack.job(id)).toMatchObject({ state: 'succeeded', attempt: 1 });
    }
    expect(stack.cloud.deadLetters).toEqual([]);
  });
});

describe('C.1 settings of a container', () => {
  test('that are wrong are told in the log by name, and every event is refused', async () => {
    await deploy({ env: { WAKE_ROLE_ARN: '', WORKER_TIMEOUT_SECONDS: '901', JWKS_URL: 'nope' } });
    const response = await stack.request('/v1/health');
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ code: 'config_invalid' });
    await expect(stack.drain()).rejects.toThrow('threw');
    const settings = stack.logs.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(settings.filter(({ event }) => event === 'config_invalid')).toMatchObject([
      { setting: 'WORKER_TIMEOUT_SECONDS' },
      { setting: 'WAKE_ROLE_ARN' },
      { setting: 'WORKER_TIMEOUT_SECONDS' },
      { setting: 'WAKE_ROLE_ARN' },
    ]);
  });

  test('C.1 a handler that may run for longer than the worker is refused, with the remedy', async () => {
    await deploy({ env: { WORKER_TIMEOUT_SECONDS: '40', WORKER_TAKES_MORE_SECONDS: '19' } });
    await expect(stack.drain()).rejects.toThrow('threw');
    const [fault] = stack.logs.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(fault).toMatchObject({
      event: 'config_invalid',
      setting: 'handlers',
      rule: expect.stringMatching(
        /^"http.request" of queue "http" has maxRunSeconds 25, and a run on AWS Lambda ends after 21 s: .*"push" or "pull"/,
      ) as unknown,
    });
  });

  test('a secret that cannot be read is tried again by the next event of the same container', async () => {
    await deploy();
    const [[name, secret]] = [...stack.cloud.secrets] as [[string, string]];
    stack.cloud.secrets.clear();
    expect((await stack.request('/v1/health')).status).toBe(500);
    stack.cloud.secrets.set(name, secret);
    expect((await stack.request('/v1/health')).status).toBe(200);
    expect(stack.api.started).toBe(1);
    expect(stack.logs.join('\n')).toContain('cannot be read: ResourceNotFoundException');
    expect(stack.logs.join('\n')).not.toContain('postgres://');
  });

  test('secrets come from parameters of Systems Manager too', async () => {
    // The template gives every setting, most of them empty: that takes nothing away.
    await deploy({ env: { SECRETS: 'ssm:/leasehold/live', POKE_SECRETS: '' } });
    const [secret = '{}'] = [...stack.cloud.secrets.values()];
    for (const [name, value] of Object.entries(JSON.parse(secret) as Record<string, string>)) {
      stack.cloud.secrets.set(`/leasehold/live/${name}`, value);
    }
    const id = await stack.enqueue(JOB);
    await stack.cloud.settled();
    expect(await stack.job(id)).toMatchObject({ state: 'succeeded' });
  });
});

describe('B.1 wake-ups on AWS', () => {
  test('a database that takes five seconds to wake: the first enqueue succeeds, and nothing is doubled', async () => {
    await deploy();
    stack.endpoint.faults.next({ kind: 'delay', ms: 5000 });
    const id = await stack.enqueue(JOB);
    await stack.cloud.settled();
    expect(await stack.job(id)).toMatchObject({ state: 'succeeded', attempt: 1 });
    expect(await counts()).toEqual({ live: 0, done: 1 });
  });

  test('a job for later arms one schedule, and nothing reaches the database before it', async () => {
    await deploy({ cloud: { runsSchedules: false } });
    const dueAt = Date.now() + 3_600_000;
    const response = await stack.request('/v1/jobs', {
      method: 'POST',
      body: JSON.stringify({ ...JOB, due_at: new Date(dueAt).toISOString() }),
    });
    expect(response.status).toBe(201);
    await stack.cloud.settled();
    const instants = [...stack.cloud.scheduler.schedules.values()].map(({ at }) => at);
    expect(instants).toHaveLength(1);
    expect((instants[0] ?? 0) - dueAt).toBeGreaterThanOrEqual(0);
    expect((instants[0] ?? 0) - dueAt).toBeLessThanOrEqual(10_000);
    // Whatever would run without being woken would be seen here: Lambda runs nothing by itself.
    expect([stack.api.running, stack.worker.running]).toEqual([0, 0]);
    expect(stack.cloud.invocations).toEqual([]);
    const before = stack.endpoint.requests;
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(stack.endpoint.requests).toBe(before);
  });

  test(
    'a delayed job starts after its time, woken by its schedule alone',
    async () => {
      await deploy();
      const dueAt = Date.now() + 1000;
      const response = await stack.request('/v1/jobs', {
        method: 'POST',
        body: JSON.stringify({ ...JOB, due_at: new Date(dueAt).toISOString() }),
      });
      const { id } = (await response.json()) as { readonly id: string };
      await expect
        .poll(() => stack.job(id).then(({ state }) => state), { timeout: 50_000, interval: 500 })
        .toBe('succeeded');
      expect(await counts()).toEqual({ live: 0, done: 1 });
    },
    SLOW_MS,
  );
});

describe('C.4 chains of pokes on AWS', () => {
  test(
    'S1.16 more jobs than a chain can run drain to the end, and no chain comes near the limit of Lambda',
    async () => {
      await deploy({ concurrency: 2 });
      const jobs = Array.from({ length: 60 }, () => JOB);
      const body = JSON.stringify({ jobs });
      expect((await stack.request('/v1/jobs/batch', { method: 'POST', body })).status).toBe(201);
      await expect.poll(counts, { timeout: 50_000, interval: 250 }).toEqual({ live: 0, done: 60 });
      expect(stack.cloud.deepest).toBeGreaterThan(1);
      expect(stack.cloud.deepest).toBeLessThanOrEqual(10);
      expect(stack.cloud.deadLetters).toEqual([]);
    },
    SLOW_MS,
  );

  test('C.2 a worker that may take more runs them in few invocations', async () => {
    await deploy({ env: { WORKER_TAKES_MORE_SECONDS: '30' } });
    const jobs = Array.from({ length: 60 }, () => JOB);
    const body = JSON.stringify({ jobs });
    expect((await stack.request('/v1/jobs/batch', { method: 'POST', body })).status).toBe(201);
    await stack.cloud.settled();
    expect(await counts()).toEqual({ live: 0, done: 60 });
    expect(stack.cloud.invocations.length).toBeLessThanOrEqual(4);
  });
});
