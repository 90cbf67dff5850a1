/** How work starts: a poke after the insert, a poke after a job, the drain; and the drain alone when all else is lost. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createDeployment, type DeployedWorker, type Deployment } from '../support/deployment.ts';

const QUEUE = 'reports';
const JOB = {
  queue: QUEUE,
  type: 'report.csv',
  payload: {
    rows: [
      { city: 'Lisbon', visits: 12 },
      { city: 'Oslo', visits: 7 },
    ],
  },
};

let deployment: Deployment;

beforeEach(async () => {
  deployment = await createDeployment();
});

afterEach(() => deployment.close());

describe('wake-ups', () => {
  test('C.4 a job goes from POST to done: the insert pokes the Worker through its binding', async () => {
    const worker = await deployment.start({ CHAIN_POKES: 'off' });
    const id = await worker.enqueue(JOB);
    await expect.poll(() => worker.job(id).then(({ state }) => state)).toBe('succeeded');
    expect(await worker.job(id)).toMatchObject({
      attempt: 1,
      result: { rows: 2, csv: 'city,visits\r\nLisbon,12\r\nOslo,7\r\n' },
    });
  });

  test('C.4 a worker that finishes and sees more due work pokes on', async () => {
    const quiet = await deployment.start({ INSERT_POKES: 'off', CHAIN_POKES: 'off' });
    for (let sent = 0; sent < 5; sent += 1) await quiet.enqueue(JOB);
    const worker = await deployment.start({ INSERT_POKES: 'off' });
    await worker.poke(QUEUE);
    await expect.poll(counts).toEqual({ live: 0, done: 5 });
  });

  test('S1.16 every wake-up off except the drain: 500 jobs finish', async () => {
    const worker = await deployment.start({ INSERT_POKES: 'off', CHAIN_POKES: 'off' });
    await enqueueMany(worker, 500);
    expect(await counts()).toEqual({ live: 500, done: 0 });

    let drains = 0;
    for (; (await counts()).live > 0 && drains < 100; drains += 1) await worker.runCron();
    expect(await counts()).toEqual({ live: 0, done: 500 });
    // A drain that pokes for nothing, or for one job, would need many more.
    expect(drains).toBeLessThanOrEqual(20);
    const { rows } = await deployment.database.pool.query<{ attempts: number }>(
      'select count(*)::int as attempts from leasehold.attempts',
    );
    expect(rows).toEqual([{ attempts: 500 }]);
  });
});

async function enqueueMany(worker: DeployedWorker, count: number): Promise<void> {
  const response = await worker.request('/v1/jobs/batch', {
    method: 'POST',
    body: JSON.stringify({ jobs: Array.from({ length: count }, () => JOB) }),
  });
  expect(response.status).toBe(201);
  await response.body?.cancel();
}

async function counts(): Promise<{ live: number; done: number }> {
  const { rows } = await deployment.database.pool.query<{ live: number; done: number }>(
    `select (select count(*)::int from leasehold.job_state) as live,
       (select count(*)::int from leasehold.finished_jobs) as done`,
  );
  return rows[0] ?? { live: 0, done: 0 };
}
