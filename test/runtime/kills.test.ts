/**
 * The function's process is killed with SIGKILL at the moments that matter, and another process carries on. Real
 * workerd, the deployed bundle, real Postgres. A lease here lasts as long as the queue lets a run last.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Job } from '../../shared/queue/job.ts';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { createDeployment, type DeployedWorker, type Deployment } from '../support/deployment.ts';
import { startEffects, type Effects } from '../support/effects.ts';

const QUEUE = 'http';
const LEASE_SECONDS = 5;
/** Longer than any test: the statement is held until the process that sent it is dead. */
const HELD_MS = 60_000;

const NO_CHAINS = { CHAIN_POKES: 'off' };

let deployment: Deployment;
let effects: Effects;

beforeAll(async () => {
  deployment = await createDeployment();
  effects = await startEffects();
  await configureQueue(deployment.database.sql, {
    queue: QUEUE,
    settings: { max_run_seconds: LEASE_SECONDS },
    actor: 'test',
  });
});

afterEach(() => {
  deployment.endpoint.faults.clear();
  effects.answerAgain();
});

afterAll(async () => {
  await deployment.close();
  await effects.close();
});

describe('S3.3 workerd is killed with SIGKILL', () => {
  test('S3.3 case K3 mid-job: busy until the lease ends, then attempt 2 finishes it', async () => {
    effects.holdAnswers();
    const called = effects.nextCall();
    const { id, worker } = await enqueueOn(await deployment.start(NO_CHAINS));
    await called;
    await worker.kill();

    effects.answerAgain();
    const other = await deployment.start(NO_CHAINS);
    expect(await other.poke(QUEUE)).toMatchObject({ outcome: 'empty' });
    expect(await other.job(id)).toMatchObject({ state: 'running', attempt: 1 });

    await leaseEnd(id);
    expect(await other.poke(QUEUE)).toMatchObject({ outcome: 'succeeded', attempt: 2 });
    expect(outcomes(await other.job(id))).toEqual(['lease_expired', 'succeeded']);
    expect(keysOf(id)).toEqual([id, id]);
  });

  test('S3.3 after the claim commits: attempt 2 finishes it, and it had no effect before', async () => {
    const { faults } = deployment.endpoint;
    faults.next({ kind: 'drop_after_commit' }, { match: /leasehold\.claim/ });
    const repeat = faults.next({ kind: 'delay', ms: HELD_MS }, { match: /leasehold\.claim/ });
    const { id, worker } = await enqueueOn(await deployment.start(NO_CHAINS));
    await repeat.fired;
    await worker.kill();

    const other = await deployment.start(NO_CHAINS);
    expect(await other.job(id)).toMatchObject({ state: 'running', attempt: 1 });
    expect(keysOf(id)).toEqual([]);
    await finishAfterLease(other, id);
    expect(keysOf(id)).toEqual([id]);
  });

  test('S3.3 after the effect, before complete: repeated under the same idempotency key', async () => {
    const complete = deployment.endpoint.faults.next(
      { kind: 'delay', ms: HELD_MS },
      { match: /leasehold\.complete/ },
    );
    const { id, worker } = await enqueueOn(await deployment.start(NO_CHAINS));
    await complete.fired;
    await worker.kill();

    const other = await deployment.start(NO_CHAINS);
    expect(await other.job(id)).toMatchObject({ state: 'running', attempt: 1 });
    await finishAfterLease(other, id);
    expect(keysOf(id)).toEqual([id, id]);
  });

  test('S3.3 during complete, which commits: done on attempt 1, nothing runs again', async () => {
    const { faults } = deployment.endpoint;
    faults.next({ kind: 'drop_after_commit' }, { match: /leasehold\.complete/ });
    const repeat = faults.next({ kind: 'delay', ms: HELD_MS }, { match: /leasehold\.complete/ });
    const { id, worker } = await enqueueOn(await deployment.start(NO_CHAINS));
    await repeat.fired;
    await worker.kill();

    const other = await deployment.start(NO_CHAINS);
    const job = await other.job(id);
    expect(job).toMatchObject({ state: 'succeeded', attempt: 1 });
    expect(outcomes(job)).toEqual(['succeeded']);
    expect(await other.poke(QUEUE)).toMatchObject({ outcome: 'empty' });
    expect(keysOf(id)).toEqual([id]);
  });

  test('S3.3 during complete, while its statement runs: done exactly once', async () => {
    const blocker = await deployment.database.pool.connect();
    try {
      effects.holdAnswers();
      const called = effects.nextCall();
      const { id, worker } = await enqueueOn(await deployment.start(NO_CHAINS));
      await called;
      await blocker.query('begin');
      await blocker.query('select from leasehold.job_state where job_id = $1 for update', [id]);
      effects.answerAgain();
      await statementWaits('leasehold.complete');
      await worker.kill();
      await blocker.query('rollback');

      const other = await deployment.start(NO_CHAINS);
      await leaseEnd(id);
      await other.poke(QUEUE);
      const job = await other.job(id);
      expect(job.state).toBe('succeeded');
      expect(outcomes(job).filter((outcome) => outcome === 'succeeded')).toHaveLength(1);
    } finally {
      blocker.release();
    }
  });
});

/** The insert-time poke starts the job at once. */
async function enqueueOn(
  worker: DeployedWorker,
): Promise<{ readonly id: string; readonly worker: DeployedWorker }> {
  const payload = { url: effects.url, body: { order: 7 } };
  return { id: await worker.enqueue({ queue: QUEUE, type: 'http.request', payload }), worker };
}

async function finishAfterLease(worker: DeployedWorker, id: string): Promise<void> {
  await leaseEnd(id);
  expect(await worker.poke(QUEUE)).toMatchObject({ outcome: 'succeeded', attempt: 2 });
  expect(outcomes(await worker.job(id))).toEqual(['lease_expired', 'succeeded']);
}

/** Until the lease is over by the database clock; the rows are left alone. */
async function leaseEnd(id: string): Promise<void> {
  await deployment.database.pool.query(
    `select pg_sleep(extract(epoch from due_at - clock_timestamp()) + 0.01)
     from leasehold.job_state where job_id = $1`,
    [id],
  );
}

/** Until Postgres itself says that a statement with this text waits for a lock. */
async function statementWaits(text: string): Promise<void> {
  await expect
    .poll(
      async () => {
        const { rowCount } = await deployment.database.pool.query(
          `select from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock' and query like $1`,
          [`%${text}(%`],
        );
        return rowCount;
      },
      { timeout: 10_000, interval: 10 },
    )
    .toBe(1);
}

function outcomes(job: Job): string[] {
  return job.attempts.map(({ outcome }) => outcome);
}

function keysOf(id: string): string[] {
  return effects.keys.filter((key) => key === id);
}
