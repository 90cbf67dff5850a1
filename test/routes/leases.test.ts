import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { webClock, webIds } from '../../functions/web-ports.ts';
import { defineHandler } from '../../shared/handler.ts';
import { createAppHarness } from './support/app-harness.ts';
import type { AppHarness } from './support/app-harness.ts';
import { added, claimed, claimedOne, jobOf, report } from './support/pull.ts';

let app: AppHarness;
beforeAll(async () => {
  const handler = defineHandler({
    queue: 'handled',
    type: 'task',
    schema: z.unknown(),
    run: () => undefined,
  });
  app = await createAppHarness({ handlers: [handler] });
});
afterAll(() => app.close());

const ERROR = { code: 'timeout', message: 'No answer.', port: 443 };

describe('B.7 a lease over HTTP', () => {
  test('is kept by a heartbeat with a step that grew', async () => {
    await added(app, 'beat');
    const job = await claimedOne(app, 'beat', { lease_seconds: 20 });
    const beat = await report(app, job, 'heartbeat', {
      step: 1,
      progress: '1 of 3',
      lease_seconds: 120,
    });
    expect(beat).toMatchObject({ status: 200, body: { outcome: 'held', cancel_requested: false } });
    expect(beat.body['lease_remaining_ms']).toBeGreaterThan(100_000);
    expect(await jobOf(app, job.id)).toMatchObject({ lease: { progress: '1 of 3' } });
  });

  test('ends with a result', async () => {
    await added(app, 'done');
    const job = await claimedOne(app, 'done');
    const end = await report(app, job, 'complete', { result: { sent: [1, 'é'] } });
    expect(end).toMatchObject({ status: 200, body: { outcome: 'succeeded', more_due: false } });
    expect(await jobOf(app, job.id)).toMatchObject({
      state: 'succeeded',
      result: { sent: [1, 'é'] },
      finished_by: 'route-tests',
    });
    // B.3: repeated after a lost answer it gives the same outcome.
    expect((await report(app, job, 'complete', {})).body).toMatchObject({ outcome: 'succeeded' });
  });

  test('S1.16 ends so that the next job of its ordering key is announced to the handlers of its queue', async () => {
    const ends = async (
      queue: string,
      ordering_key: string,
      next = {},
    ): Promise<[string[], number]> => {
      await added(app, queue, { ordering_key });
      await added(app, queue, { ordering_key, ...next });
      const job = await claimedOne(app, queue);
      await app.backgroundDone();
      const [pokes, wakes] = [app.pokes.length, app.wakes.length];
      // Repeated after a lost answer it announces again: the first time may be what was lost.
      for (let time = 0; time < 2; time += 1) {
        expect((await report(app, job, 'complete')).status).toBe(200);
        await app.backgroundDone();
      }
      return [app.pokes.slice(pokes).map((poke) => poke.queue), app.wakes.length - wakes];
    };
    expect(await ends('handled', 'now')).toEqual([['handled', 'handled'], 0]);
    expect(await claimed(app, 'handled')).toHaveLength(1);
    // Due later: only the database knows when.
    expect(await ends('handled', 'later', { delay_seconds: 3600 })).toEqual([[], 2]);
    expect(await ends('pulled', 'now')).toEqual([[], 0]);
  });

  test('ends with a word on the result that could not be sent', async () => {
    await added(app, 'too-big');
    const job = await claimedOne(app, 'too-big');
    await report(app, job, 'complete', { result_problem: 'It is 3 GiB.' });
    expect(await jobOf(app, job.id)).toMatchObject({
      state: 'succeeded',
      result: null,
      result_problem: 'It is 3 GiB.',
    });
  });

  test('S1.8 fails by class, with every member of the error kept', async () => {
    await added(app, 'fails');
    const first = await claimedOne(app, 'fails');
    const retry = await report(app, first, 'fail', { error: ERROR, class: 'transient' });
    expect(retry).toMatchObject({ status: 200, body: { outcome: 'pending' } });
    expect(Date.parse(String(retry.body['due_at']))).toBeGreaterThan(0);
    expect(await jobOf(app, first.id)).toMatchObject({
      state: 'pending',
      attempts: [{ outcome: 'failed', failure_class: 'transient', error: ERROR }],
    });
    await added(app, 'fails for good');
    const final = await claimedOne(app, 'fails for good');
    expect(
      (await report(app, final, 'fail', { error: ERROR, class: 'permanent' })).body,
    ).toMatchObject({ outcome: 'dead' });
    expect(await jobOf(app, final.id)).toMatchObject({
      state: 'dead',
      dead: { reason: 'permanent_failure', error: ERROR },
    });
  });

  test('S1.9 a Retry-After moves the next attempt', async () => {
    await added(app, 'asked-to-wait');
    const job = await claimedOne(app, 'asked-to-wait');
    const before = webClock.now();
    const { body } = await report(app, job, 'fail', {
      error: ERROR,
      class: 'transient',
      retry_after_seconds: 900,
    });
    expect(Date.parse(String(body['due_at']))).toBeGreaterThan(before + 890_000);
  });

  test('goes back at once, or later, and spends no attempt', async () => {
    await added(app, 'back');
    const first = await claimedOne(app, 'back', {}, { actor: 'agent-1' });
    const back = await report(app, first, 'release', { reason: 'not mine' }, { actor: 'agent-1' });
    expect(back).toMatchObject({ status: 200, body: { outcome: 'pending' } });
    const second = await claimedOne(app, 'back', {}, { actor: 'agent-2' });
    expect(second).toMatchObject({ id: first.id, attempt: 1, fencing_token: '2' });
    const later = await report(app, second, 'snooze', { delay_seconds: 60 }, { actor: 'agent-2' });
    expect(later.body).toMatchObject({ outcome: 'pending' });
    expect(await jobOf(app, first.id)).toMatchObject({
      state: 'pending',
      waiting_for: 'time',
      attempt: 0,
      attempts: [{ outcome: 'released' }, { outcome: 'snoozed' }],
    });
    expect(await claimed(app, 'back')).toEqual([]);
  });

  test('hears at the next heartbeat that the job was called off', async () => {
    await added(app, 'called-off');
    const job = await claimedOne(app, 'called-off');
    const asked = await app.call('POST', `/v1/jobs/${job.id}/cancel`, {
      body: { reason: 'ordered twice' },
    });
    expect(asked).toMatchObject({ status: 202, body: { outcome: 'cancel_requested' } });
    const beat = await report(app, job, 'heartbeat', { step: 1 });
    expect(beat.body).toMatchObject({ outcome: 'held', cancel_requested: true });
    expect((await report(app, job, 'complete', { result: 1 })).body).toMatchObject({
      outcome: 'cancelled',
    });
    expect(await jobOf(app, job.id)).toMatchObject({ state: 'cancelled', reason: 'ordered twice' });
  });
});

describe('S1.3 a lost lease is an answer of its own', () => {
  const CALLS = [
    ['heartbeat', { step: 2 }],
    ['complete', {}],
    ['fail', { error: ERROR }],
    ['release', {}],
    ['snooze', { delay_seconds: 5 }],
  ] as const;

  test.each(CALLS)(
    'to %s of a stale holder: 409 lease_lost, and nothing changes',
    async (verb, fields) => {
      const queue = `stale ${verb}`;
      await added(app, queue);
      const stale = await claimedOne(app, queue, {}, { actor: 'slow' });
      await app.database.pool.query(
        `update leasehold.job_state set due_at = clock_timestamp() - interval '1 second' where job_id = $1`,
        [stale.id],
      );
      const holder = await claimedOne(app, queue, {}, { actor: 'quick' });
      expect(holder.id).toBe(stale.id);
      const before = await jobOf(app, stale.id);
      const lost = await report(app, stale, verb, fields, { actor: 'slow' });
      expect(lost).toMatchObject({ status: 409, body: { code: 'lease_lost' } });
      expect(await jobOf(app, stale.id)).toEqual(before);
    },
  );

  test.each(CALLS)('to %s under another name, token or job', async (verb, fields) => {
    await added(app, 'mine');
    const job = await claimedOne(app, 'mine');
    for (const call of [
      report(app, job, verb, fields, { actor: 'somebody-else' }),
      report(app, { ...job, fencing_token: '2' }, verb, fields),
      report(app, { ...job, id: webIds.uuidv7() }, verb, fields),
    ]) {
      expect(await call).toMatchObject({ status: 409, body: { code: 'lease_lost' } });
    }
    expect((await report(app, job, 'complete')).status).toBe(200);
  });

  test('S2.8 a body cannot speak for another owner', async () => {
    await added(app, 'forged');
    const job = await claimedOne(app, 'forged', {}, { actor: 'owner' });
    const forged = await report(app, job, 'complete', { owner: 'owner' }, { actor: 'thief' });
    expect(forged).toMatchObject({ status: 400, body: { problems: [{ path: 'owner' }] } });
  });
});
