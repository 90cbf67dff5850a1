/** Every wake-up of the AWS form is a hint: lost, or delivered twice and thrice, it changes when jobs run and nothing else. */
import { afterEach, describe, expect, test } from 'vitest';
import { createLambdaStack } from './support/stack.ts';
import type { LambdaStack, StackOptions } from './support/stack.ts';

const JOBS = 20;
const JOB = { queue: 'reports', type: 'report.csv', payload: { rows: [{ a: 1 }] } };

let stack: LambdaStack;
afterEach(() => stack.close());

async function deployWithJobs(options: StackOptions): Promise<void> {
  stack = await createLambdaStack(options);
  const jobs = Array.from({ length: JOBS }, (_, index) => ({ ...JOB, delay_seconds: index % 2 }));
  const body = JSON.stringify({ jobs });
  const { status } = await stack.request('/v1/jobs/batch', { method: 'POST', body });
  expect(status).toBe(201);
}

async function live(): Promise<number> {
  const { rows } = await stack.database.pool.query<{ live: number }>(
    'select count(*)::int as live from leasehold.job_state',
  );
  return rows[0]?.live ?? -1;
}

/** Claims of the log whose job was held already: a token that came before another one had ended. */
async function doubleLeases(): Promise<number> {
  const { rows } = await stack.database.pool.query<{ doubles: number }>(
    `select count(*)::int as doubles
     from leasehold.attempts earlier
     join leasehold.attempts later using (job_id)
     where later.fencing_token > earlier.fencing_token and later.started_at < earlier.ended_at`,
  );
  return rows[0]?.doubles ?? -1;
}

async function attempts(): Promise<number> {
  const { rows } = await stack.database.pool.query<{ attempts: number }>(
    'select count(*)::int as attempts from leasehold.attempts',
  );
  return rows[0]?.attempts ?? -1;
}

describe('S1.16 B.1 wake-ups of the AWS form', () => {
  test('every one comes three times: each job runs once', async () => {
    await deployWithJobs({ cloud: { copies: () => 3 } });
    await expect.poll(live, { timeout: 50_000, interval: 250 }).toBe(0);
    await stack.cloud.settled();
    expect([await attempts(), await doubleLeases()]).toEqual([JOBS, 0]);
    expect(stack.cloud.deadLetters).toEqual([]);
  }, 60_000);

  test('every one is lost: the sweep alone empties the queue', async () => {
    const isSweepPoke = (event: unknown): boolean =>
      typeof event === 'object' && event !== null && 'drain' in event && event.drain === true;
    await deployWithJobs({ cloud: { copies: (event) => (isSweepPoke(event) ? 1 : 0) } });
    await stack.cloud.settled();
    expect(await live()).toBe(JOBS);
    for (let sweeps = 0; (await live()) > 0 && sweeps < 10; sweeps += 1) {
      await stack.drain();
      await stack.cloud.settled();
    }
    expect([await live(), await attempts(), await doubleLeases()]).toEqual([0, JOBS, 0]);
  });

  test('ten drains at once: pokes are bounded, and no job runs twice', async () => {
    await deployWithJobs({ env: { INSERT_POKES: 'off' } });
    for (let drains = 0; drains < 10; drains += 1) {
      stack.cloud.invokeAsync('leasehold-worker', { leasehold: 'drain' });
    }
    await expect.poll(live, { timeout: 50_000, interval: 250 }).toBe(0);
    await stack.cloud.settled();
    expect([await attempts(), await doubleLeases()]).toEqual([JOBS, 0]);
    // Each drain pokes at most once for each of the twenty jobs, and chains go on from there.
    expect(stack.cloud.deepest).toBeLessThanOrEqual(10);
    expect(stack.cloud.deadLetters).toEqual([]);
  }, 60_000);
});
