/** What a pull worker saves by taking the next job with its report: calls and statements, counted, not timed. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import type { LeasedJob } from '../../shared/client/lease-calls.ts';
import type { PullHandler } from '../../shared/client/pull-job.ts';
import { work } from '../../shared/client/work.ts';
import type { WorkOptions } from '../../shared/client/work.ts';
import { webClock } from '../../shared/web-ports.ts';
import { createClientHarness } from './support/client-harness.ts';
import type { ClientHarness } from './support/client-harness.ts';

let harness: ClientHarness;
beforeAll(async () => {
  harness = await createClientHarness();
  // The first statement of an isolate is the look at the schema.
  await harness.client.listJobs();
});
afterAll(() => harness.close());
beforeEach(() => {
  harness.sent.length = 0;
});

const JOB = { type: 'try', payload: { a: 1 } };

async function added(queue: string, count: number): Promise<void> {
  await harness.client.enqueueBatch(Array.from({ length: count }, () => ({ queue, ...JOB })));
  harness.sent.length = 0;
}

async function leased(queue: string): Promise<LeasedJob> {
  const claim = await harness.client.claim(queue);
  if (claim.outcome === 'empty') throw new Error(`nothing in ${queue}`);
  harness.sent.length = 0;
  return claim.job;
}

interface WorkedOff {
  readonly outcomes: readonly string[];
  /** Statements that reached the database's endpoint. */
  readonly roundTrips: number;
}

/** Works until as many jobs have ended. */
async function workOff(
  queue: string,
  jobs: number,
  handler: PullHandler,
  options: Partial<WorkOptions> = {},
  client = harness.client,
): Promise<WorkedOff> {
  const { endpoint } = harness.app.http;
  const before = endpoint.requests;
  const stop = new AbortController();
  const outcomes: string[] = [];
  await work(client, queue, handler, {
    signal: stop.signal,
    waitSeconds: 1,
    ...options,
    onEnd: (_job, { outcome }) => {
      outcomes.push(outcome);
      if (outcomes.length === jobs) stop.abort();
    },
  });
  return { outcomes, roundTrips: endpoint.requests - before };
}

function verbs(): (string | undefined)[] {
  return harness.sent.map(({ path }) => path.split('/').at(-1));
}

/** Which reports of success asked for another job. */
function asking(): boolean[] {
  return harness.sent
    .filter(({ path }) => path.endsWith('/complete'))
    .map(({ body }) => 'claim_next' in (JSON.parse(body) as object));
}

const succeeded = (count: number): string[] => Array.from({ length: count }, () => 'succeeded');

describe('B.6 a completion that claims the next job', () => {
  test('gives it, with when the call went out; null when there is none', async () => {
    await added('one-by-one', 2);
    const first = await leased('one-by-one');
    const before = webClock.now();
    const end = await harness.client.complete(first, { claim_next: { queue: 'one-by-one' } });
    if (end.outcome === 'lease_lost') throw new Error('lost');
    expect(end).toMatchObject({ outcome: 'succeeded', next: { queue: 'one-by-one', attempt: 1 } });
    expect(end.sentAt).toBeGreaterThanOrEqual(before);
    const next = end.next ?? first;
    expect(next.id).not.toBe(first.id);
    const last = await harness.client.complete(next, { claim_next: { queue: 'one-by-one' } });
    expect(last).toMatchObject({ outcome: 'succeeded', next: null });
  });

  test('B.3 repeats with the same claim id after a lost answer: the same lease, no second one', async () => {
    await added('lost', 3);
    const job = await leased('lost');
    harness.befall('/complete', 'lost', 'lost');
    const end = await harness.client.complete(job, { claim_next: { queue: 'lost' } });
    expect(end).toMatchObject({ outcome: 'succeeded', next: { attempt: 1 } });
    expect(harness.sent).toHaveLength(3);
    expect(new Set(harness.sent.map(({ body }) => body)).size).toBe(1);
    const { jobs } = await harness.client.listJobs({ queue: 'lost', state: 'running' });
    expect(jobs).toHaveLength(1);
  });

  test('gives nothing but the outcome when the lease is lost', async () => {
    await added('gone', 2);
    const job = await leased('gone');
    const stale = { ...job, fencing_token: '9' };
    expect(await harness.client.complete(stale, { claim_next: { queue: 'gone' } })).toEqual({
      outcome: 'lease_lost',
    });
    const { jobs } = await harness.client.listJobs({ queue: 'gone', state: 'running' });
    expect(jobs).toMatchObject([{ id: job.id }]);
  });
});

describe('B.6 a pull worker', () => {
  test('needs one round trip a job while it is busy, and one claim to begin with', async () => {
    await added('busy', 6);
    const { outcomes, roundTrips } = await workOff('busy', 6, () => 'done');
    expect(outcomes).toEqual(succeeded(6));
    expect(verbs()).toEqual(['claims', ...Array.from({ length: 6 }, () => 'complete')]);
    expect(roundTrips).toBe(7);
  });

  test('needs two where it is told to claim each job by itself', async () => {
    await added('apart', 6);
    const { outcomes, roundTrips } = await workOff('apart', 6, () => 'done', { claimNext: false });
    expect(outcomes).toEqual(succeeded(6));
    expect(asking()).toEqual(Array.from({ length: 6 }, () => false));
    expect(roundTrips).toBe(12);
  });

  test('asks for the lease that it was told to ask for', async () => {
    await added('times', 2);
    const seconds: number[] = [];
    await workOff('times', 2, (job) => seconds.push(job.lease_seconds), { leaseSeconds: 17 });
    expect(seconds).toEqual([17, 17]);
  });

  test('never runs more jobs than it may, and each once', async () => {
    await added('bounded', 12);
    const running = new Set<string>();
    const seen: string[] = [];
    let most = 0;
    const { outcomes } = await workOff(
      'bounded',
      12,
      async (job) => {
        running.add(job.id);
        seen.push(job.id);
        most = Math.max(most, running.size);
        await harness.client.heartbeat(job, { step: 1 });
        running.delete(job.id);
      },
      { concurrency: 3 },
    );
    expect(outcomes).toEqual(succeeded(12));
    expect(most).toBe(3);
    expect(new Set(seen).size).toBe(12);
  });

  test('reports a failure by itself, and claims after it', async () => {
    await added('faulty', 3);
    let runs = 0;
    const { outcomes } = await workOff('faulty', 3, () => {
      runs += 1;
      if (runs === 2) throw new Error('boom');
    });
    expect(outcomes).toEqual(['succeeded', 'retrying', 'succeeded']);
    expect(verbs()).toEqual(['claims', 'complete', 'fail', 'claims', 'complete']);
  });

  test('B.3 goes on with the same next job when an answer gets lost', async () => {
    await added('shaky', 3);
    harness.befall('/complete', 'lost');
    const attempts: number[] = [];
    const { outcomes } = await workOff('shaky', 3, (job) => attempts.push(job.attempt));
    expect(outcomes).toEqual(succeeded(3));
    expect(attempts).toEqual([1, 1, 1]);
  });

  test('makes sure of a lease that came with an answer that took long', async () => {
    await added('slow', 2);
    let aheadMs = 0;
    const slow = harness.clientWith({
      ports: { clock: { now: () => webClock.now() + aheadMs } },
      fetch: async (request) => {
        const response = await harness.fetch(request);
        if (request.url.endsWith('/complete')) aheadMs += 10_000;
        return response;
      },
    });
    const { outcomes } = await workOff('slow', 2, () => 'done', { leaseSeconds: 30 }, slow);
    expect(outcomes).toEqual(succeeded(2));
    expect(verbs()).toEqual(['claims', 'complete', 'heartbeat', 'complete']);
  });

  test('asks for no more once it is told to stop', async () => {
    await added('stopped', 2);
    const stop = new AbortController();
    await work(harness.client, 'stopped', () => stop.abort(), { signal: stop.signal });
    expect(asking()).toEqual([false]);
    const { jobs } = await harness.client.listJobs({ queue: 'stopped', state: 'pending' });
    expect(jobs).toMatchObject([{ attempt: 0 }]);
  });

  test('gives back the job that came while it was told to stop', async () => {
    await added('stopping', 2);
    const runs: string[] = [];
    const { outcomes } = await workOff('stopping', 1, (job) => runs.push(job.id));
    expect(outcomes).toEqual(['succeeded']);
    expect(runs).toHaveLength(1);
    expect(verbs()).toEqual(['claims', 'complete', 'release']);
    const { jobs } = await harness.client.listJobs({ queue: 'stopping', state: 'pending' });
    expect(jobs).toMatchObject([{ attempt: 0, lease: null }]);
  });

  test('reports the success alone to a service that does not know how', async () => {
    await added('older', 2);
    const older = harness.clientWith({
      fetch: async (request) =>
        (await request.clone().text()).includes('claim_next')
          ? refused('claim_next')
          : await harness.fetch(request),
    });
    const { outcomes } = await workOff('older', 2, () => 'done', {}, older);
    expect(outcomes).toEqual(succeeded(2));
    expect(asking()).toEqual([false, false]);
  });
});

/** As a service answers that has never heard of a field. */
function refused(path: string): Response {
  const problem = {
    type: 'about:blank',
    title: 'The request is invalid',
    status: 400,
    detail: `${path} is not known`,
    code: 'invalid_request',
    remedy: 'Correct it.',
    problems: [{ path, message: 'is not known' }],
  };
  const headers = { 'content-type': 'application/problem+json' };
  return new Response(JSON.stringify(problem), { status: 400, headers });
}
