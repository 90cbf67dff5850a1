import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { LeaseholdApiError } from '../../shared/client/api-error.ts';
import type { LeasedJob } from '../../shared/client/lease-calls.ts';
import { MAX_TRIES, pauseMs } from '../../shared/client/retry.ts';
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

async function leased(queue: string): Promise<LeasedJob> {
  await harness.client.enqueue({ queue, ...JOB });
  const claim = await harness.client.claim(queue);
  if (claim.outcome === 'empty') throw new Error(`nothing in ${queue}`);
  harness.sent.length = 0;
  return claim.job;
}

/** All tries were one request. */
function expectSameTries(count: number): void {
  expect(harness.sent).toHaveLength(count);
  expect(new Set(harness.sent.map((request) => JSON.stringify(request))).size).toBe(1);
}

describe('a lost answer is safe', () => {
  test('of an enqueue: one job, and its own answer', async () => {
    harness.befall('/v1/jobs', 'lost', 'lost');
    const stored = await harness.client.enqueue({ queue: 'one', ...JOB });
    expectSameTries(3);
    expect(stored.outcome).toBe('created');
    expect((await harness.client.listJobs({ queue: 'one' })).jobs).toMatchObject([
      { id: stored.id },
    ]);
  });

  test('of a batch: its jobs once', async () => {
    harness.befall('/v1/jobs/batch', 'lost');
    const stored = await harness.client.enqueueBatch([
      { queue: 'batch', ...JOB },
      { queue: 'batch', ...JOB },
    ]);
    expectSameTries(2);
    expect(stored.map(({ outcome }) => outcome)).toEqual(['created', 'created']);
    expect((await harness.client.listJobs({ queue: 'batch' })).jobs).toHaveLength(2);
  });

  test('of a claim: the same lease, no second one', async () => {
    await harness.client.enqueueBatch([
      { queue: 'claimed', ...JOB },
      { queue: 'claimed', ...JOB },
    ]);
    harness.sent.length = 0;
    harness.befall('/claims', 'lost');
    const claim = await harness.client.claim('claimed');
    expectSameTries(2);
    expect(claim.outcome).toBe('claimed');
    const { jobs } = await harness.client.listJobs({ queue: 'claimed', state: 'running' });
    expect(jobs).toHaveLength(1);
  });

  test('of a completion: still succeeded', async () => {
    const job = await leased('completed');
    harness.befall('/complete', 'lost', 'lost');
    expect(await harness.client.complete(job, { result: 1 })).toMatchObject({
      outcome: 'succeeded',
    });
    expectSameTries(3);
  });

  test('of a failure: one attempt, one retry', async () => {
    const job = await leased('failing');
    harness.befall('/fail', 'lost');
    const end = await harness.client.fail(job, { error: { code: 'x', message: 'y' } });
    expect(end.outcome).toBe('pending');
    expect((await harness.client.getJob(job.id))?.attempts).toHaveLength(1);
  });

  test.each(['release', 'snooze'] as const)('of a %s: given back once', async (verb) => {
    const job = await leased(verb);
    harness.befall(`/${verb}`, 'lost');
    const end =
      verb === 'release'
        ? await harness.client.release(job)
        : await harness.client.snooze(job, { delay_seconds: 9 });
    expect(end.outcome).toBe('pending');
    expectSameTries(2);
  });

  test('of a cancel: cancelled', async () => {
    const { id } = await harness.client.enqueue({ queue: 'off', ...JOB });
    harness.befall('/cancel', 'lost');
    expect(await harness.client.cancel(id)).toEqual({ outcome: 'cancelled' });
  });

  test('of a redrive: sent back once, and told so', async () => {
    const job = await leased('letters');
    await harness.client.fail(job, { error: { code: 'x', message: 'y' }, class: 'permanent' });
    harness.sent.length = 0;
    harness.befall('/redrive', 'lost');
    const order = { job_ids: [job.id], reason: 'r' };
    expect(await harness.client.deadLetters.redrive(order)).toMatchObject({ settled: 1 });
    expectSameTries(2);
  });

  test('of a removed schedule: it is gone', async () => {
    const schedule = { cron: '0 7 * * *', zone: 'UTC', queue: 's', type: 't', payload: {} };
    await harness.client.schedules.put('daily', schedule);
    harness.befall('/daily', 'lost');
    await harness.client.schedules.delete('daily');
    expect(await harness.client.schedules.get('daily')).toBeUndefined();
  });
});

test('each POST that is named by nothing else carries a key of its own', async () => {
  const { client } = harness;
  const job = await leased('keys');
  await client.heartbeat(job, { step: 1 });
  await client.complete(job);
  await client.enqueue({ queue: 'keys', ...JOB });
  await client.enqueue({ queue: 'keys', ...JOB });
  await client.queues.pause('keys');
  const keyed = harness.sent.map(({ path, key }) => [path.split('/').at(-1), key !== null]);
  expect(keyed).toEqual([
    ['heartbeat', false],
    ['complete', false],
    ['jobs', true],
    ['jobs', true],
    ['pause', true],
  ]);
  const keys = harness.sent.flatMap(({ key }) => key ?? []);
  expect(new Set(keys).size).toBe(keys.length);
});

describe('what is tried again', () => {
  test('a service that is away, until the tries are used up', async () => {
    harness.befall('/v1/jobs', ...Array.from({ length: MAX_TRIES }, () => 'refused' as const));
    const failed = harness.client.enqueue({ queue: 'away', ...JOB });
    await expect(failed).rejects.toMatchObject({ code: 'no_answer', status: 0 });
    expectSameTries(MAX_TRIES);
  });

  test.each([429, 502, 503, 504])('a %s of whatever stands between', async (status) => {
    harness.befall('/v1/jobs', () => new Response('<html>', { status }));
    expect(await harness.client.enqueue({ queue: 'proxy', ...JOB })).toMatchObject({
      outcome: 'created',
    });
    expectSameTries(2);
  });

  test('a page of a proxy in the place of an answer', async () => {
    harness.befall('/v1/jobs', () => new Response('<html>Sign in to the hotel', { status: 200 }));
    expect(await harness.client.enqueue({ queue: 'hotel', ...JOB })).toMatchObject({
      outcome: 'created',
    });
    expectSameTries(2);
  });

  test('not a refusal, which comes as an error with all that it says', async () => {
    const error = await harness.client
      .enqueue({ queue: 'refused', type: 'try', payload: {}, delay_seconds: -1 })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(LeaseholdApiError);
    expect(error).toMatchObject({
      code: 'invalid_request',
      status: 400,
      problems: [{ path: 'delay_seconds' }],
    });
    expect((error as LeaseholdApiError).requestId).toMatch(/^[\w.-]+$/);
    expectSameTries(1);
  });

  test('not a redirect, which is never followed', async () => {
    const location = { location: 'https://elsewhere.test/' };
    harness.befall('/v1/jobs', () => new Response(null, { status: 307, headers: location }));
    const failed = harness.client.enqueue({ queue: 'moved', ...JOB });
    await expect(failed).rejects.toMatchObject({ code: 'unexpected_answer', status: 307 });
    expectSameTries(1);
  });

  test('not after the caller has gone', async () => {
    const stop = new AbortController();
    harness.befall('/v1/jobs', () => {
      stop.abort(new Error('gone'));
      return new Response('', { status: 503 });
    });
    const failed = harness.client.enqueue({ queue: 'gone', ...JOB }, { signal: stop.signal });
    await expect(failed).rejects.toThrow('gone');
    expectSameTries(1);
  });
});

describe('pauses between tries', () => {
  const random = (value: number) => ({ next: () => value });
  test('grow, and are spread over all their length', () => {
    const most = [1, 2, 3, 4, 5, 6].map((tries) =>
      pauseMs({ retryAfterSeconds: undefined }, tries, random(1)),
    );
    expect(most).toEqual([400, 800, 1600, 3200, 5000, 5000]);
    expect(pauseMs({ retryAfterSeconds: undefined }, 3, random(0))).toBe(0);
  });

  test('are never shorter than the service asks for', () => {
    expect(pauseMs({ retryAfterSeconds: 7 }, 1, random(0))).toBe(7000);
  });
});
