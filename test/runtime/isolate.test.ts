/** One isolate serves many requests: nothing of one may reach another, whatever happens to it. */
import { afterEach, expect, test } from 'vitest';
import { createDeployment, type DeployedWorker, type Deployment } from '../support/deployment.ts';

const REQUESTS = 50;
const HELD_MS = 60_000;
const JOB = {
  queue: 'reports',
  type: 'report.csv',
  payload: { rows: [{ city: 'Oslo', visits: 7 }] },
};

let deployment: Deployment;
let worker: DeployedWorker;

afterEach(() => deployment.close());

/** With the wake clock, requests of one isolate share what they tell it: numbers, and nothing that anybody waits for. */
test.each([
  ['with the wake clock', { TIMED_WAKES: 'on' }],
  ['with the cron alone', { TIMED_WAKES: 'off' }],
])(
  'case K1 %s: the first request is cancelled by its client midway; the others all succeed',
  async (_form, env) => {
    deployment = await createDeployment();
    worker = await deployment.start(env);
    const held = deployment.endpoint.faults.next({ kind: 'delay', ms: HELD_MS });
    const client = new AbortController();
    const cancelled = post({ signal: client.signal });
    await held.fired;
    client.abort();
    await expect(cancelled).rejects.toThrow('aborted');

    const oneByOne: number[] = [];
    for (let sent = 1; sent < REQUESTS / 2; sent += 1) oneByOne.push(await post());
    const together = await Promise.all(Array.from({ length: REQUESTS / 2 }, () => post()));
    expect([...oneByOne, ...together]).toEqual(Array.from({ length: REQUESTS - 1 }, () => 201));

    await expect
      .poll(
        async () => {
          await worker.runCron();
          const { rows } = await deployment.database.pool.query<{ left: number; done: number }>(
            `select (select count(*)::int from leasehold.job_state) as left,
             (select count(*)::int from leasehold.finished_jobs) as done`,
          );
          return rows[0];
        },
        { timeout: 20_000 },
      )
      .toEqual({ left: 0, done: REQUESTS - 1 });
  },
);

async function post(init: RequestInit = {}): Promise<number> {
  const response = await worker.request('/v1/jobs', {
    method: 'POST',
    body: JSON.stringify(JOB),
    ...init,
  });
  await response.body?.cancel();
  return response.status;
}
