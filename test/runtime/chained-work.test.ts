/** Several jobs for one poke in the deployed bundle: what they cost, and what a kill in between leaves. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { createDeployment, type DeployedWorker, type Deployment } from '../support/deployment.ts';

const QUEUE = 'reports';
const JOB = { queue: QUEUE, type: 'report.csv', payload: { rows: [{ city: 'Lisbon' }] } };
const JOBS = 5;
/** Nothing wakes the Worker but the test. */
const QUIET = { INSERT_POKES: 'off', CHAIN_POKES: 'off' };
const LEASE_SECONDS = 3;
/** Longer than any test: the statement is held until the process that sent it is dead. */
const HELD_MS = 60_000;

let deployment: Deployment;
beforeAll(async () => {
  deployment = await createDeployment();
});
afterEach(() => deployment.endpoint.faults.clear());
afterAll(() => deployment.close());

async function enqueued(worker: DeployedWorker, count: number): Promise<string[]> {
  const ids = [];
  for (let at = 0; at < count; at += 1) ids.push(await worker.enqueue(JOB));
  return ids;
}

/** Statements that one poke costs. */
async function costOf(worker: DeployedWorker): Promise<number> {
  const before = deployment.endpoint.requests;
  await worker.poke(QUEUE);
  return deployment.endpoint.requests - before;
}

describe('B.6 a deployed Worker with JOBS_PER_INVOCATION', () => {
  test('runs its jobs for one poke, with one round trip a job and one claim', async () => {
    const worker = await deployment.start({ ...QUIET, JOBS_PER_INVOCATION: String(JOBS) });
    const ids = await enqueued(worker, JOBS);
    expect(await costOf(worker)).toBe(JOBS + 1);
    for (const id of ids) expect(await worker.job(id)).toMatchObject({ state: 'succeeded' });
  });

  test('without it runs one, with two round trips', async () => {
    const worker = await deployment.start(QUIET);
    const ids = await enqueued(worker, 2);
    for (const _ of ids) expect(await costOf(worker)).toBe(2);
    for (const id of ids) expect(await worker.job(id)).toMatchObject({ state: 'succeeded' });
  });

  test('killed after such a report has committed: the job before is done, the next one is run after its lease', async () => {
    // A lease lasts as long as the queue lets a run last.
    const settings = { max_run_seconds: LEASE_SECONDS };
    await configureQueue(deployment.database.sql, { queue: QUEUE, settings, actor: 'test' });
    const worker = await deployment.start({ ...QUIET, JOBS_PER_INVOCATION: String(JOBS) });
    const [done, next] = await enqueued(worker, 2);
    const { faults } = deployment.endpoint;
    faults.next({ kind: 'drop_after_commit' }, { match: /complete_and_claim/ });
    const repeat = faults.next({ kind: 'delay', ms: HELD_MS }, { match: /complete_and_claim/ });
    const poked = worker.poke(QUEUE).catch(() => undefined);
    await repeat.fired;
    await worker.kill();
    await poked;

    const other = await deployment.start({ ...QUIET, JOBS_PER_INVOCATION: String(JOBS) });
    expect(await other.job(done ?? '')).toMatchObject({ state: 'succeeded', attempt: 1 });
    expect(await other.job(next ?? '')).toMatchObject({ attempt: 1 });
    await deployment.database.pool.query(
      `select pg_sleep(extract(epoch from due_at - clock_timestamp()) + 0.01)
       from leasehold.job_state where job_id = $1`,
      [next],
    );
    expect(await other.poke(QUEUE)).toMatchObject({ outcome: 'succeeded', attempt: 2 });
    const { attempts } = await other.job(next ?? '');
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['lease_expired', 'succeeded']);
  });
});
