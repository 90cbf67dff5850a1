/** The wake clock in workerd: its alarm runs the drain when something is due, and the database is left alone otherwise. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { createDeployment, type DeployedWorker, type Deployment } from '../support/deployment.ts';
import { startEffects } from '../support/effects.ts';
import { doubleLeases } from '../support/lease-log.ts';

const JOB = {
  queue: 'reports',
  type: 'report.csv',
  payload: { rows: [{ city: 'Oslo', visits: 7 }] },
};
const WITH_CLOCK = { TIMED_WAKES: 'on', SAFETY_SWEEP_MINUTES: 'off' };
/** A new clock looks into the database once: schedules, drain, two of retention and its turn, last tick. */
const STATEMENTS_A_LOOK = 6;
const IDLE_MS = 15_000;

let deployment: Deployment;

beforeEach(async () => {
  deployment = await createDeployment();
});

afterEach(() => deployment.close());

describe('the wake clock', () => {
  test('B.1 C.4 delayed jobs start within a second of their time, without any cron', async () => {
    const worker = await deployment.start(WITH_CLOCK);
    const ids = [await delayed(worker, 6), await delayed(worker, 3)];
    for (const id of ids) await succeeded(worker, id);
    const late = await startsLate();
    expect(late).toHaveLength(2);
    for (const ms of late) expect(ms).toBeLessThan(1000);
  });

  test('B.1 an idle deployment with a job for later: an hour of cron ticks sends the database nothing', async () => {
    const worker = await deployment.start(WITH_CLOCK);
    await delayed(worker, 7200);
    const { endpoint } = deployment;
    const before = endpoint.requests;
    await worker.runCron();
    await expect.poll(() => endpoint.requests - before).toBe(STATEMENTS_A_LOOK);
    for (let minute = 0; minute < 60; minute += 1) await worker.runCron();
    await pause(IDLE_MS);
    expect(endpoint.requests - before).toBe(STATEMENTS_A_LOOK);
  });

  test('S1.16 B.1 a clock that lost all it kept finds the job again with the first tick of the cron', async () => {
    const first = await deployment.start(WITH_CLOCK);
    const id = await delayed(first, 5);
    await first.kill();
    const second = await deployment.start(WITH_CLOCK);
    await second.runCron();
    await succeeded(second, id);
    for (const ms of await startsLate()) expect(ms).toBeLessThan(1000);
  });

  test('S1.16 case K3 killed mid-job: nobody pokes, and attempt 2 starts when the lease has ended', async () => {
    const effects = await startEffects();
    try {
      await configureQueue(deployment.database.sql, {
        queue: 'http',
        settings: { max_run_seconds: 4 },
        actor: 'test',
      });
      effects.holdAnswers();
      const called = effects.nextCall();
      const first = await deployment.start(WITH_CLOCK);
      const id = await first.enqueue({
        queue: 'http',
        type: 'http.request',
        payload: { url: effects.url, body: { order: 7 } },
      });
      await called;
      await first.kill();
      effects.answerAgain();
      const second = await deployment.start(WITH_CLOCK);
      await second.runCron();
      expect(await second.job(id)).toMatchObject({ state: 'running', attempt: 1 });
      await succeeded(second, id);
      expect((await second.job(id)).attempts.map(({ outcome }) => outcome)).toEqual([
        'lease_expired',
        'succeeded',
      ]);
      expect(await doubleLeases(deployment.database.pool)).toEqual([]);
    } finally {
      await effects.close();
    }
  });

  test('B.1 a database that has to wake: the first enqueue succeeds, and nothing is doubled', async () => {
    const worker = await deployment.start(WITH_CLOCK);
    const asleep = deployment.endpoint.faults.next({ kind: 'delay', ms: 5000 });
    const startedAt = performance.now();
    const ids = await Promise.all([worker.enqueue(JOB), worker.enqueue(JOB)]);
    await asleep.fired;
    expect(performance.now() - startedAt).toBeGreaterThan(4900);
    deployment.endpoint.faults.next({ kind: 'delay', ms: 5000 }, { match: /enqueue_batch/ });
    ids.push(await worker.enqueue(JOB));
    for (const id of ids) await succeeded(worker, id);
    const { rows } = await deployment.database.pool.query(
      `select (select count(*)::int from leasehold.jobs) as jobs,
         (select count(*)::int from leasehold.attempts) as attempts`,
    );
    expect(rows).toEqual([{ jobs: 3, attempts: 3 }]);
  });

  test('S1.16 a database that is away when the alarm rings: the clock tries again, and the job runs', async () => {
    const worker = await deployment.start(WITH_CLOCK);
    const id = await delayed(worker, 2);
    const away = deployment.endpoint.faults.next(
      { kind: 'status', status: 500 },
      { match: /due_schedules|due_queues/, times: 12 },
    );
    await away.fired;
    await succeeded(worker, id);
    expect(worker.logs.some((line) => line.includes('"event":"tick_failed"'))).toBe(true);
  });
});

async function delayed(worker: DeployedWorker, seconds: number): Promise<string> {
  return await worker.enqueue({ ...JOB, delay_seconds: seconds });
}

async function succeeded(worker: DeployedWorker, id: string): Promise<void> {
  await expect
    .poll(() => worker.job(id).then(({ state }) => state), { timeout: 20_000, interval: 100 })
    .toBe('succeeded');
}

/** How long after it was due each attempt began, in milliseconds. */
async function startsLate(): Promise<number[]> {
  const { rows } = await deployment.database.pool.query<{ ms: number }>(
    `select (extract(epoch from a.started_at - j.due_at) * 1000)::float as ms
     from leasehold.attempts a
     join leasehold.jobs j on j.id = a.job_id`,
  );
  return rows.map(({ ms }) => ms);
}
