/** What Lambda does to a process: it stops it with the answer, wakes it for the next event, and kills it at its time limit. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import type { Job } from '../../shared/queue/job.ts';
import { startEffects } from '../support/effects.ts';
import type { Effects } from '../support/effects.ts';
import { createLambdaStack } from './support/stack.ts';
import type { LambdaStack } from './support/stack.ts';

const REPORT = { queue: 'reports', type: 'report.csv', payload: { rows: [{ a: 1 }] } };
const LEASE_SECONDS = 5;

let stack: LambdaStack;
let effects: Effects;
beforeEach(async () => {
  stack = await createLambdaStack();
  effects = await startEffects();
});
afterEach(async () => {
  await stack.close();
  await effects.close();
});

function outcomes(job: Job): string[] {
  return job.attempts.map(({ outcome }) => outcome);
}

describe('C.1 a container is frozen with its answer', () => {
  test('the poke of an enqueue has been sent by then', async () => {
    await stack.enqueue(REPORT);
    expect(stack.cloud.invocations).toHaveLength(1);
    await stack.cloud.settled();
  });

  test('case K1 fifty requests, one by one and together, frozen and thawed in between: all are answered', async () => {
    const statuses: number[] = [];
    const read = async (): Promise<void> => {
      const response = await stack.request('/v1/jobs?limit=1');
      statuses.push(response.status);
    };
    await read();
    // The other side closes what is idle meanwhile: the first statement after the thaw finds its connection dead.
    stack.endpoint.faults.next({ kind: 'drop_before' });
    for (let sent = 1; sent < 25; sent += 1) await read();
    await Promise.all(Array.from({ length: 25 }, read));
    expect(statuses).toEqual(Array.from({ length: 50 }, () => 200));
    expect(stack.api.started).toBeLessThanOrEqual(4);
  });
});

describe('S3.3 a function is killed at its time limit', () => {
  test('case K3 mid-job: retries find it busy, its lease ends, and attempt 2 finishes it without a hand', async () => {
    await configureQueue(stack.database.sql, {
      queue: 'http',
      settings: { max_run_seconds: LEASE_SECONDS, backoff_base_ms: 1 },
      actor: 'test',
    });
    effects.holdAnswers();
    const called = effects.nextCall();
    const id = await stack.enqueue({
      queue: 'http',
      type: 'http.request',
      payload: { url: effects.url },
    });
    await called;
    stack.worker.killRunning();
    effects.answerAgain();
    // Lambda tries the poke again at once, and once more: the job is held, so nothing is claimed and nothing fails.
    await stack.cloud.settled();
    expect(await stack.job(id)).toMatchObject({ state: 'running', attempt: 1 });
    expect(stack.cloud.deadLetters).toEqual([]);

    await expect
      .poll(() => stack.job(id).then(({ state }) => state), { timeout: 50_000, interval: 500 })
      .toBe('succeeded');
    expect(outcomes(await stack.job(id))).toEqual(['lease_expired', 'succeeded']);
    expect(effects.keys).toEqual([id, id]);
  }, 60_000);

  test('case K3 a lease is never longer than the invocation could have run', async () => {
    const called = effects.nextCall();
    effects.holdAnswers();
    const id = await stack.enqueue({
      queue: 'http',
      type: 'http.request',
      payload: { url: effects.url },
    });
    await called;
    const { rows } = await stack.database.pool.query<{ seconds: number }>(
      `select extract(epoch from due_at - clock_timestamp())::float as seconds
       from leasehold.job_state where job_id = $1`,
      [id],
    );
    expect(rows[0]?.seconds).toBeGreaterThan(0);
    expect(rows[0]?.seconds).toBeLessThanOrEqual(60);
    effects.answerAgain();
    await stack.cloud.settled();
  });
});
