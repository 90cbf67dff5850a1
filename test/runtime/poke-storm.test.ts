/** Thousands of jobs in workerd, behind the platform's rule that a Worker calls itself at most sixteen deep. */
import { readFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { buildWorker, type WorkerBuild } from '../../infra/local/build-worker.ts';
import {
  MAX_CONCURRENT_POKES,
  MAX_POKE_DEPTH,
  MAX_POKES_IN_FLIGHT_PER_QUEUE,
} from '../../shared/limits.ts';
import { createDeployment, type DeployedWorker, type Deployment } from '../support/deployment.ts';
import { doubleLeases } from '../support/lease-log.ts';

const ENTRY = 'test/runtime/worker/counted-calls.ts';
const JOB = {
  queue: 'reports',
  type: 'report.csv',
  payload: { rows: [{ city: 'Oslo', visits: 7 }] },
};
const STORM_JOBS = 5000;
const BATCH_JOBS = 10;
const PRODUCERS = 50;
/** What a second storm may add to the memory of workerd, which collects garbage when it likes. */
const MAX_GROWTH = 1.4;

interface SelfCalls {
  readonly most: number;
  readonly deepest: number;
  readonly refused: number;
  readonly pokes: number;
}

let build: WorkerBuild | undefined;
let deployment: Deployment;
let worker: DeployedWorker;

beforeEach(async () => {
  build ??= await countedBuild();
  deployment = await createDeployment(build);
  worker = await deployment.start({ TIMED_WAKES: 'on', SAFETY_SWEEP_MINUTES: 'off' });
});

afterEach(() => deployment.close());

async function countedBuild(): Promise<WorkerBuild> {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-counted-'));
  try {
    return await buildWorker(folder, ENTRY);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('C.4 S1.16 without any cron', () => {
  test('2,000 jobs enqueued at once drain to the end, and no self-call is refused', async () => {
    for (let batch = 0; batch < 2; batch += 1) {
      const response = await worker.request('/v1/jobs/batch', {
        method: 'POST',
        body: JSON.stringify({ jobs: Array.from({ length: 1000 }, () => JOB) }),
      });
      expect(response.status).toBe(201);
      await response.body?.cancel();
    }
    await untilDone(2000);
    const calls = await selfCalls();
    expect(calls.refused).toBe(0);
    expect(calls.deepest).toBeLessThanOrEqual(MAX_POKE_DEPTH + 1);
  }, 120_000);

  test('5,000 enqueues in a few seconds: bounded fan-out, no job lost, and memory stays flat', async () => {
    await storm();
    await untilDone(STORM_JOBS);
    const settled = residentMegabytes(worker.pid);
    await storm();
    await untilDone(2 * STORM_JOBS);
    expect(residentMegabytes(worker.pid) / settled).toBeLessThan(MAX_GROWTH);
    const calls = await selfCalls();
    expect(calls.refused).toBe(0);
    expect(calls.most).toBeLessThanOrEqual(MAX_POKES_IN_FLIGHT_PER_QUEUE + MAX_CONCURRENT_POKES);
  }, 240_000);
});

/** A few seconds' worth of requests, many at a time. */
async function storm(): Promise<void> {
  const left = Array.from({ length: STORM_JOBS / BATCH_JOBS }).keys();
  const body = JSON.stringify({ jobs: Array.from({ length: BATCH_JOBS }, () => JOB) });
  const producer = async (): Promise<void> => {
    for (const _ of left) {
      const response = await worker.request('/v1/jobs/batch', { method: 'POST', body });
      expect(response.status).toBe(201);
      await response.body?.cancel();
    }
  };
  await Promise.all(Array.from({ length: PRODUCERS }, producer));
}

async function untilDone(count: number): Promise<void> {
  await expect
    .poll(
      async () => {
        const { rows } = await deployment.database.pool.query<{ done: number }>(
          `select count(*)::int as done from leasehold.finished_jobs where state = 'succeeded'`,
        );
        return rows[0]?.done;
      },
      { timeout: 200_000, interval: 250 },
    )
    .toBe(count);
  expect(await doubleLeases(deployment.database.pool)).toEqual([]);
}

async function selfCalls(): Promise<SelfCalls> {
  return (await (await worker.request('/self-calls')).json()) as SelfCalls;
}

/** Of the workerd process, as Linux counts. */
function residentMegabytes(pid: number): number {
  const [, kilobytes] =
    /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}
