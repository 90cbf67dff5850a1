import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { webClock } from '../../shared/web-ports.ts';
import type { PullHandler } from '../../shared/client/pull-job.ts';
import { work } from '../../shared/client/work.ts';
import type { WorkOptions } from '../../shared/client/work.ts';
import { PermanentError, TransientError } from '../../shared/handler-errors.ts';
import { JobStopped } from '../../shared/job-stopped.ts';
import { createClientHarness } from './support/client-harness.ts';
import type { ClientHarness } from './support/client-harness.ts';

let harness: ClientHarness;
beforeAll(async () => {
  harness = await createClientHarness();
});
afterAll(() => harness.close());
beforeEach(() => {
  harness.sent.length = 0;
});

const JOB = { type: 'try', payload: { a: 1 } };

/** Adds jobs and works until as many have ended; gives the outcomes in the order in which they did. */
async function workOff(
  queue: string,
  jobs: number,
  handler: PullHandler,
  options: Partial<WorkOptions> = {},
  client = harness.client,
): Promise<string[]> {
  await harness.client.enqueueBatch(Array.from({ length: jobs }, () => ({ queue, ...JOB })));
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
  return outcomes;
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

describe('S3.7 a pull worker', () => {
  test('runs every job once', async () => {
    const seen: string[] = [];
    const outcomes = await workOff('every', 9, (job) => seen.push(job.id), { concurrency: 3 });
    expect(outcomes).toEqual(Array.from({ length: 9 }, () => 'succeeded'));
    expect(new Set(seen).size).toBe(9);
    const { jobs } = await harness.client.listJobs({ queue: 'every', state: 'succeeded' });
    expect(jobs).toHaveLength(9);
  });

  test('never runs or claims more than it may at one time, where each job is claimed by itself', async () => {
    const claimed: { readonly limit: number; readonly running: number }[] = [];
    const claimedAgain = Promise.withResolvers<void>();
    const full = Promise.withResolvers<void>();
    const running = new Set<string>();
    let most = 0;
    const client = harness.clientWith({
      fetch: async (request) => {
        if (request.url.endsWith('/claims')) {
          const { limit } = (await request.clone().json()) as { limit: number };
          claimed.push({ limit, running: running.size });
          if (claimed.length > 1) claimedAgain.resolve();
        }
        return await harness.fetch(request);
      },
    });
    let first = true;
    const handler: PullHandler = async (job) => {
      running.add(job.id);
      most = Math.max(most, running.size);
      if (running.size === 3) full.resolve();
      const isFirst = first;
      first = false;
      // One makes room while the other two keep running.
      await (isFirst ? full.promise : claimedAgain.promise);
      running.delete(job.id);
    };
    await workOff('bounded', 9, handler, { concurrency: 3, claimNext: false }, client);
    expect(most).toBe(3);
    expect(claimed.slice(0, 2)).toEqual([
      { limit: 3, running: 0 },
      { limit: 1, running: 2 },
    ]);
    expect(claimed.filter(({ limit, running: busy }) => limit + busy > 3)).toEqual([]);
  });

  test('beats through work that is longer than its lease, and shows how far it is', async () => {
    const beats: unknown[] = [];
    const outcomes = await workOff(
      'long',
      1,
      async (job, { progress, clock }) => {
        progress('begun');
        const until = clock.now() + job.lease_remaining_ms * 1.5;
        while (clock.now() < until) {
          const seen = await harness.client.getJob(job.id, { wait: 1 });
          beats.push(seen?.lease?.progress);
        }
      },
      { leaseSeconds: 3 },
    );
    expect(outcomes).toEqual(['succeeded']);
    expect(beats).toContain('begun');
    const { jobs } = await harness.client.listJobs({ queue: 'long' });
    expect(jobs).toMatchObject([{ state: 'succeeded', attempt: 1 }]);
  });

  test('retries what can be retried, and buries the rest', async () => {
    const faults = [new TransientError('busy', 'Later.'), new PermanentError('no', 'Never.')];
    const outcomes = await workOff('faulty', 2, () => {
      throw faults.shift() ?? new Error('no fault left');
    });
    expect(outcomes.toSorted()).toEqual(['dead', 'retrying']);
    const { jobs } = await harness.client.deadLetters.list({ queue: 'faulty' });
    expect(jobs).toMatchObject([{ dead: { error: { code: 'no' } } }]);
  });

  test('stops at once when its lease is lost, and reports nothing', async () => {
    let reason: unknown;
    const outcomes = await workOff(
      'stolen',
      1,
      async (job, { signal }) => {
        // Somebody ends the attempt in its place; the next heartbeat is told so.
        await harness.client.complete(job);
        harness.sent.length = 0;
        await untilAborted(signal).catch((thrown: unknown) => {
          reason = thrown;
        });
      },
      { leaseSeconds: 3 },
    );
    expect(outcomes).toEqual(['lease_lost']);
    expect(reason).toBeInstanceOf(JobStopped);
    expect((reason as JobStopped).why).toBe('lease_lost');
    const reports = harness.sent.filter(({ path }) => /complete|fail|snooze$/.test(path));
    expect(reports).toEqual([]);
  });

  test('hears that a job was called off', async () => {
    const outcomes = await workOff(
      'called-off',
      1,
      async (job, { signal }) => {
        await harness.client.cancel(job.id);
        await untilAborted(signal);
      },
      { leaseSeconds: 3 },
    );
    expect(outcomes).toEqual(['cancelled']);
  });

  test('goes on when answers get lost', async () => {
    harness.befall('/claims', 'lost');
    harness.befall('/complete', 'lost');
    expect(await workOff('shaky', 1, () => 'done')).toEqual(['succeeded']);
    const { jobs } = await harness.client.listJobs({ queue: 'shaky' });
    expect(jobs).toMatchObject([{ state: 'succeeded', attempt: 1 }]);
  });

  test('makes sure of its lease after a claim that took long', async () => {
    let aheadMs = 0;
    const slow = harness.clientWith({
      ports: { clock: { now: () => webClock.now() + aheadMs } },
      fetch: async (request) => {
        const response = await harness.fetch(request);
        if (request.url.endsWith('/claims')) aheadMs += 1000;
        return response;
      },
    });
    await harness.client.enqueue({ queue: 'late', ...JOB });
    harness.sent.length = 0;
    const stop = new AbortController();
    const outcomes: string[] = [];
    await work(slow, 'late', () => 'done', {
      signal: stop.signal,
      leaseSeconds: 3,
      onEnd: (_job, { outcome }) => {
        outcomes.push(outcome);
        stop.abort();
      },
    });
    expect(outcomes).toEqual(['succeeded']);
    const verbs = harness.sent.map(({ path }) => path.split('/').at(-1));
    expect(verbs.slice(0, 3)).toEqual(['claims', 'heartbeat', 'complete']);
  });

  test('gives back what it cannot finish when it stops', async () => {
    await harness.client.enqueue({ queue: 'stopping', ...JOB });
    const stop = new AbortController();
    const outcomes: string[] = [];
    await work(
      harness.client,
      'stopping',
      async (_job, { signal }) => {
        stop.abort();
        await untilAborted(signal);
      },
      { signal: stop.signal, graceMs: 10, onEnd: (_job, { outcome }) => outcomes.push(outcome) },
    );
    expect(outcomes).toEqual(['snoozed']);
    const { jobs } = await harness.client.listJobs({ queue: 'stopping' });
    expect(jobs).toMatchObject([{ state: 'pending', lease: null }]);
  });

  test('keeps no job of a claim that it broke off', async () => {
    await harness.client.enqueue({ queue: 'broken-off', ...JOB });
    harness.sent.length = 0;
    const stop = new AbortController();
    harness.befall('/claims', 'lost', () => {
      stop.abort();
      throw new TypeError('connection reset');
    });
    await work(harness.client, 'broken-off', () => 'never', { signal: stop.signal });
    const { jobs } = await harness.client.listJobs({ queue: 'broken-off' });
    expect(jobs).toMatchObject([{ state: 'pending', lease: null }]);
    expect(harness.sent.some(({ path }) => path.endsWith('/release'))).toBe(true);
  });

  test('ends with what onEnd throws, also while a claim waits', async () => {
    await harness.client.enqueue({ queue: 'told', ...JOB });
    const waits = Promise.withResolvers<void>();
    let claims = 0;
    const client = harness.clientWith({
      fetch: async (request) => {
        if (request.url.endsWith('/claims') && (claims += 1) > 1) waits.resolve();
        return await harness.fetch(request);
      },
    });
    const endless = new AbortController();
    const working = work(client, 'told', () => waits.promise, {
      signal: endless.signal,
      concurrency: 2,
      onEnd: () => {
        throw new Error('told too much');
      },
    });
    await expect(working).rejects.toThrow('told too much');
    const { jobs } = await harness.client.listJobs({ queue: 'told' });
    expect(jobs).toMatchObject([{ state: 'succeeded' }]);
  });

  test('gives back the next job when onEnd throws, and waits for the jobs that run', async () => {
    await harness.client.enqueueBatch(
      Array.from({ length: 3 }, () => ({ queue: 'thrown', ...JOB })),
    );
    const thrown = Promise.withResolvers<void>();
    const endless = new AbortController();
    let runs = 0;
    const handler: PullHandler = async () => {
      runs += 1;
      if (runs === 2) await thrown.promise;
    };
    const working = work(harness.client, 'thrown', handler, {
      signal: endless.signal,
      concurrency: 2,
      onEnd: () => {
        thrown.resolve();
        throw new Error('told too much');
      },
    });
    await expect(working).rejects.toThrow('told too much');
    expect(runs).toBe(2);
    const { jobs } = await harness.client.listJobs({ queue: 'thrown' });
    expect(jobs.map(({ state }) => state).toSorted()).toEqual([
      'pending',
      'succeeded',
      'succeeded',
    ]);
  });

  test('ends when the service refuses it', async () => {
    const client = harness.clientWith({ token: 'nonsense' });
    const endless = new AbortController();
    const working = work(client, 'q', () => 'never', { signal: endless.signal });
    await expect(working).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  test.each([0, 1.5, 101])('refuses a concurrency of %s', async (concurrency) => {
    const { signal } = new AbortController();
    await expect(work(harness.client, 'q', () => 1, { signal, concurrency })).rejects.toThrow(
      RangeError,
    );
  });
});
