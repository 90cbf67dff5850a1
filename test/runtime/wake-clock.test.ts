/** The wake clock in workerd: its alarm runs the drain when something is due, and the database is left alone otherwise. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createDeployment, type DeployedWorker, type Deployment } from '../support/deployment.ts';

const JOB = {
  queue: 'reports',
  type: 'report.csv',
  payload: { rows: [{ city: 'Oslo', visits: 7 }] },
};
const WITH_CLOCK = { TIMED_WAKES: 'on' };

let deployment: Deployment;

beforeEach(async () => {
  deployment = await createDeployment();
});

afterEach(() => deployment.close());

describe('the wake clock', () => {
  test('B.1 C.4 a delayed job starts within a second of its time, without any cron', async () => {
    const worker = await deployment.start(WITH_CLOCK);
    const ids = [await delayed(worker, 3), await delayed(worker, 6)];
    for (const id of ids) {
      await expect
        .poll(() => worker.job(id).then(({ state }) => state), { timeout: 10_000 })
        .toBe('succeeded');
    }
    const lateness = await startsLate();
    expect(lateness).toHaveLength(2);
    for (const ms of lateness) expect(ms).toBeLessThan(1000);
  });
});

async function delayed(worker: DeployedWorker, seconds: number): Promise<string> {
  return await worker.enqueue({ ...JOB, delay_seconds: seconds });
}

/** How long after it was due each attempt began. */
async function startsLate(): Promise<number[]> {
  const { rows } = await deployment.database.pool.query<{ ms: number }>(
    `select (extract(epoch from a.started_at - j.due_at) * 1000)::float as ms
     from leasehold.attempts a
     join leasehold.jobs j on j.id = a.job_id`,
  );
  return rows.map(({ ms }) => ms);
}
