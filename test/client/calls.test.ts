import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { webIds } from '../../functions/web-ports.ts';
import type { LeasedJob } from '../../shared/client/lease-calls.ts';
import { createClientHarness } from './support/client-harness.ts';
import type { ClientHarness } from './support/client-harness.ts';

let harness: ClientHarness;
beforeAll(async () => {
  harness = await createClientHarness();
});
afterAll(() => harness.close());

const JOB = { type: 'email.welcome', payload: { to: 'ada@example.com' } };

async function leased(queue: string): Promise<LeasedJob> {
  await harness.client.enqueue({ queue, ...JOB });
  const claim = await harness.client.claim(queue);
  if (claim.outcome === 'empty') throw new Error(`nothing in ${queue}`);
  return claim.job;
}

describe('producers', () => {
  test('an enqueue says whether the job is new', async () => {
    const { client } = harness;
    const job = { id: webIds.uuidv7(), queue: 'producer', dedup_key: 'k', ...JOB };
    expect(await client.enqueue(job)).toMatchObject({ id: job.id, outcome: 'created' });
    expect(await client.enqueue(job)).toMatchObject({ id: job.id, outcome: 'exists' });
    expect(await client.enqueue({ ...job, id: undefined })).toMatchObject({
      id: job.id,
      outcome: 'duplicate',
    });
  });

  test('a batch gives an outcome for each', async () => {
    const stored = await harness.client.enqueueBatch([
      { queue: 'batch', ...JOB },
      { queue: 'batch', ...JOB, tags: ['second'] },
    ]);
    expect(stored.map(({ outcome }) => outcome)).toEqual(['created', 'created']);
    const { jobs } = await harness.client.listJobs({ queue: 'batch', tag: 'second' });
    expect(jobs.map(({ id }) => id)).toEqual([stored[1]?.id]);
  });

  test('a job is read as soon as it has ended', async () => {
    const { client } = harness;
    expect(await client.getJob(webIds.uuidv7())).toBeUndefined();
    const job = await leased('awaited');
    const waiting = client.getJob(job.id, { wait: 20 });
    await client.complete(job, { result: { sent: true } });
    expect(await waiting).toMatchObject({ state: 'succeeded', result: { sent: true } });
  });

  test('pages follow the cursor', async () => {
    const { client } = harness;
    await client.enqueueBatch(Array.from({ length: 5 }, () => ({ queue: 'paged', ...JOB })));
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await client.listJobs({ queue: 'paged', limit: 2, cursor });
      seen.push(...page.jobs.map(({ id }) => id));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(new Set(seen).size).toBe(5);
  });

  test('cancel and edit tell what is not possible as a value', async () => {
    const { client } = harness;
    const { id } = await client.enqueue({ queue: 'steered', ...JOB, delay_seconds: 60 });
    expect(await client.edit(id, { priority: 'high' })).toMatchObject({ priority: 'high' });
    expect(await client.cancel(id, { reason: 'twice' })).toEqual({ outcome: 'cancelled' });
    expect(await client.edit(id, { priority: 'low' })).toEqual({ outcome: 'not_pending' });
    const running = await leased('steered');
    expect(await client.cancel(running.id)).toEqual({ outcome: 'cancel_requested' });
    expect(await client.heartbeat(running, { step: 1 })).toMatchObject({ cancel_requested: true });
    const done = await leased('done');
    await client.complete(done);
    expect(await client.cancel(done.id)).toEqual({ outcome: 'already_ended' });
    expect(await client.cancel(webIds.uuidv7())).toEqual({ outcome: 'not_found' });
    expect(await client.edit(webIds.uuidv7(), { priority: 'low' })).toEqual({
      outcome: 'not_found',
    });
  });
});

describe('S3.7 pull workers over the client', () => {
  test('an empty queue is a value', async () => {
    expect(await harness.client.claim('nothing')).toEqual({ outcome: 'empty' });
    expect(await harness.client.claimBatch('nothing', { limit: 3 })).toMatchObject({ jobs: [] });
  });

  test('a lease is kept and ended', async () => {
    const { client } = harness;
    const job = await leased('kept');
    expect(await client.heartbeat(job, { step: 1, progress: 'half' })).toMatchObject({
      outcome: 'held',
      cancel_requested: false,
    });
    expect(await client.complete(job)).toMatchObject({ outcome: 'succeeded' });
    expect(
      await client.fail(await leased('failed'), { error: { code: 'x', message: 'y' } }),
    ).toMatchObject({ outcome: 'pending' });
    expect(
      await client.fail(await leased('dead'), {
        error: { code: 'x', message: 'y' },
        class: 'permanent',
      }),
    ).toMatchObject({ outcome: 'dead' });
    expect(await client.release(await leased('released'))).toMatchObject({ outcome: 'pending' });
    expect(await client.snooze(await leased('snoozed'), { delay_seconds: 60 })).toMatchObject({
      outcome: 'pending',
    });
  });

  test('a lost lease is a value for every report', async () => {
    const { client } = harness;
    const job = { ...(await leased('stale')), fencing_token: '999' };
    const lost = { outcome: 'lease_lost' };
    expect(await client.heartbeat(job, { step: 1 })).toEqual(lost);
    expect(await client.complete(job)).toEqual(lost);
    expect(await client.fail(job, { error: { code: 'x', message: 'y' } })).toEqual(lost);
    expect(await client.release(job)).toEqual(lost);
    expect(await client.snooze(job, { delay_seconds: 60 })).toEqual(lost);
  });

  test('several queues are claimed from at once', async () => {
    const { client } = harness;
    const { id } = await client.enqueue({ queue: 'second', ...JOB });
    const { jobs } = await client.claimFromQueues({ queues: ['first', 'second'], limit: 5 });
    expect(jobs.map((job) => job.id)).toEqual([id]);
  });
});

describe('operators', () => {
  test('queues', async () => {
    const { queues } = harness.client;
    expect(await queues.get('none')).toBeUndefined();
    expect(await queues.put('q', { weight: 3 })).toMatchObject({ name: 'q', weight: 3 });
    expect(await queues.pause('q', { reason: 'r' })).toMatchObject({ paused: { reason: 'r' } });
    expect(await queues.resume('q')).toMatchObject({ paused: null, changed: true });
    expect(await queues.blockedKeys('q')).toEqual({ keys: [], next_cursor: null });
    expect((await queues.list({ limit: 200 })).queues.map(({ name }) => name)).toContain('q');
    expect((await queues.overview()).queues.map(({ name }) => name)).toContain('q');
  });

  test('dead letters', async () => {
    const { client } = harness;
    const { deadLetters } = client;
    const ids: string[] = [];
    for (let at = 0; at < 3; at += 1) {
      const job = await leased('letters');
      await client.fail(job, { error: { code: 'x', message: 'y' }, class: 'permanent' });
      ids.push(job.id);
    }
    const [first = '', second = ''] = ids;
    const { jobs } = await deadLetters.list({ queue: 'letters' });
    expect(jobs.map(({ id }) => id)).toEqual(ids);
    expect(await deadLetters.note(first, { owner: 'ada' })).toMatchObject({
      dead: { owner: 'ada' },
    });
    expect(await deadLetters.get(webIds.uuidv7())).toBeUndefined();
    expect(await deadLetters.settleEffect(first, 'none', { state: 'done' })).toEqual({
      outcome: 'not_found',
    });
    expect(await deadLetters.redrive({ job_ids: [first], reason: 'r' })).toEqual({
      settled: 1,
      jobs: [{ id: first, outcome: 'redriven' }],
    });
    expect(await deadLetters.discard({ job_ids: [second], reason: 'r' })).toMatchObject({
      settled: 1,
    });
    const filter = { queue: 'letters' };
    expect(await deadLetters.redriveMatching({ filter, dry_run: true })).toMatchObject({
      count: 1,
    });
    const wrong = deadLetters.discardMatching({ filter, expected_count: 7, reason: 'r' });
    await expect(wrong).rejects.toMatchObject({
      code: 'count_mismatch',
      status: 409,
      facts: { actual_count: 1 },
    });
  });

  test('escalations', async () => {
    const { client } = harness;
    const { escalations } = client;
    await client.queues.put('people', { on_exhausted: 'escalate' });
    const failed = await leased('people');
    const failure = { error: { code: 'x', message: 'y' }, class: 'permanent' } as const;
    expect(await client.fail(failed, failure)).toMatchObject({ outcome: 'escalated' });
    const asked = await leased('people');
    expect(await client.escalate(asked, 'Which one?')).toMatchObject({ outcome: 'escalated' });
    expect(await client.escalate({ ...asked, fencing_token: '9' }, 'x')).toEqual({
      outcome: 'lease_lost',
    });
    const { jobs } = await escalations.list({ queue: 'people' });
    expect(jobs.map(({ id }) => id)).toEqual([failed.id, asked.id]);

    const { job } = await escalations.claim({ queue: 'people' });
    expect(job).toMatchObject({ id: failed.id, reason: 'permanent_failure' });
    if (job === null) throw new Error('nothing was free');
    expect(await escalations.release(job)).toEqual({ outcome: 'escalated' });
    expect(await escalations.complete(job)).toEqual({ outcome: 'lease_lost' });
    const { job: mine } = await escalations.claim({ job_id: failed.id });
    expect(await escalations.complete(mine ?? job, { result: { done: true } })).toEqual({
      outcome: 'succeeded',
    });

    const { job: theirs } = await escalations.claim({ queue: 'people' });
    expect(await escalations.sendBack(theirs ?? job, 'The first.')).toMatchObject({
      outcome: 'pending',
    });
    const next = await client.claim('people');
    expect(next).toMatchObject({ outcome: 'claimed', job: { id: asked.id, note: 'The first.' } });
    if (next.outcome === 'empty') return;
    await client.escalate(next.job, 'And now?');
    const { job: last } = await escalations.claim({ queue: 'people' });
    expect(await escalations.discard(last ?? job, 'withdrawn')).toEqual({ outcome: 'cancelled' });
    expect((await escalations.claim()).job).toBeNull();
  });

  test('schedules', async () => {
    const { schedules } = harness.client;
    const daily = { cron: '0 7 * * *', zone: 'Europe/Berlin', queue: 's', type: 't', payload: {} };
    expect((await schedules.put('daily', daily)).next_slots).not.toEqual([]);
    expect(await schedules.pause('daily')).toMatchObject({ paused: true });
    expect(await schedules.resume('daily')).toMatchObject({ paused: false });
    expect((await schedules.list()).schedules).toHaveLength(1);
    await schedules.delete('daily');
    await schedules.delete('daily');
    expect(await schedules.get('daily')).toBeUndefined();
    expect(await schedules.pause('daily')).toBeUndefined();
  });
});
