/** A report of success over HTTP that takes the next job: statements that reach the endpoint, counted, not timed. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { webIds } from '../../functions/web-ports.ts';
import { MAX_RESULT_BYTES } from '../../shared/limits.ts';
import { completeAndClaim } from '../../shared/queue/complete-and-claim.ts';
import { createAppHarness } from './support/app-harness.ts';
import type { AppHarness } from './support/app-harness.ts';
import { added, claimed, claimedOne, jobOf, report } from './support/pull.ts';
import type { PulledJob } from './support/pull.ts';

let app: AppHarness;
beforeAll(async () => {
  app = await createAppHarness();
});
afterAll(() => app.close());
beforeEach(() => app.http.endpoint.faults.clear());

/** The statements that a call cost. */
async function roundTrips(call: () => Promise<unknown>): Promise<number> {
  const before = app.http.endpoint.requests;
  await call();
  return app.http.endpoint.requests - before;
}

/** Jobs of a queue, the first of them claimed. */
async function begun(
  queue: string,
  count: number,
): Promise<{ readonly held: PulledJob; readonly ids: readonly string[] }> {
  const ids = [];
  for (let at = 0; at < count; at += 1) ids.push(await added(app, queue));
  return { held: await claimedOne(app, queue), ids };
}

describe('B.6 a completion that claims the next job', () => {
  test('costs one round trip a job; a completion and a claim cost two', async () => {
    const { held } = await begun('busy', 4);
    let job = held;
    for (const fused of [1, 2]) {
      const cost = await roundTrips(async () => {
        const { body } = await report(app, job, 'complete', { claim_next: { queue: 'busy' } });
        job = body['next'] as PulledJob;
      });
      expect([fused, cost]).toEqual([fused, 1]);
    }
    const apart = await roundTrips(async () => {
      await report(app, job, 'complete');
      job = await claimedOne(app, 'busy');
    });
    expect(apart).toBe(2);
  });

  test('gives it as a claim would', async () => {
    const { held, ids } = await begun('as-claimed', 2);
    await app.call('PUT', '/v1/queues/other', { body: { lease_seconds: 44 } });
    await added(app, 'other');
    await added(app, 'other');
    const like = await claimedOne(app, 'other');
    const { status, body } = await report(app, held, 'complete', {
      result: 7,
      claim_next: { queue: 'other' },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      outcome: 'succeeded',
      next: { queue: 'other', attempt: 1, lease_seconds: 44, more_due: false },
    });
    expect(Object.keys(body['next'] as object)).toEqual(Object.keys(like));
    expect(await jobOf(app, held.id)).toMatchObject({ state: 'succeeded', result: 7 });
    expect(await jobOf(app, ids[1] ?? '')).toMatchObject({ state: 'pending' });
    const next = body['next'] as PulledJob;
    expect(await jobOf(app, next.id)).toMatchObject({ lease: { owner: 'route-tests' } });
    expect((await report(app, next, 'complete')).status).toBe(200);
  });

  test('answers null when nothing is due, and nothing of it when it was not asked', async () => {
    const { held } = await begun('last', 1);
    const { body } = await report(app, held, 'complete', { claim_next: { queue: 'last' } });
    expect(body).toEqual({ outcome: 'succeeded', more_due: false, next: null });
    const { held: other } = await begun('last', 1);
    expect((await report(app, other, 'complete')).body).toEqual({
      outcome: 'succeeded',
      more_due: false,
    });
  });

  test.each([
    [1, 1],
    [3600, 900], // cut by the queue's longest run
  ])('takes a lease of the %i s that are asked for', async (asked, given) => {
    const { held } = await begun(`lease of ${asked}`, 2);
    const claimNext = { queue: held.queue, lease_seconds: asked };
    const { body } = await report(app, held, 'complete', { claim_next: claimNext });
    expect(body).toMatchObject({ next: { lease_seconds: given } });
  });

  test.each([
    [{}, 'claim_next.queue'],
    [{ queue: '..' }, 'claim_next.queue'],
    [{ queue: 'q', claim_id: 'one' }, 'claim_next.claim_id'],
    [{ queue: 'q', limit: 2 }, 'claim_next.limit'],
    [{ queue: 'q', lease_seconds: 0 }, 'claim_next.lease_seconds'],
    [{ queue: 'q', lease_seconds: 3601 }, 'claim_next.lease_seconds'],
  ])('refuses %j and does nothing', async (claimNext, path) => {
    const { held } = await begun('refused', 1);
    const { status, body } = await report(app, held, 'complete', { claim_next: claimNext });
    expect(status).toBe(400);
    expect(body['problems']).toMatchObject([{ path }]);
    expect((await report(app, held, 'complete')).status).toBe(200);
  });

  test('ends the job and claims nothing from a queue that is paused', async () => {
    const { held, ids } = await begun('paused', 2);
    await app.call('POST', '/v1/queues/paused/pause');
    const { body } = await report(app, held, 'complete', { claim_next: { queue: 'paused' } });
    expect(body).toMatchObject({ outcome: 'succeeded', next: null });
    expect(await jobOf(app, ids[1] ?? '')).toMatchObject({ state: 'pending', attempt: 0 });
  });

  test('makes room by itself in a queue with a limit of one lease', async () => {
    await app.call('PUT', '/v1/queues/limited', { body: { concurrency_limit: 1 } });
    const { held } = await begun('limited', 2);
    expect(await claimed(app, 'limited')).toEqual([]);
    const { body } = await report(app, held, 'complete', { claim_next: { queue: 'limited' } });
    expect(body).toMatchObject({ next: { queue: 'limited', attempt: 1 } });
  });

  test('claims nothing when its result is refused', async () => {
    const { held, ids } = await begun('too-big', 2);
    const big = { result: 'x'.repeat(MAX_RESULT_BYTES), claim_next: { queue: 'too-big' } };
    expect((await report(app, held, 'complete', big)).status).toBe(400);
    expect(await jobOf(app, ids[1] ?? '')).toMatchObject({ state: 'pending', attempt: 0 });
  });

  test('whose lease is lost is 409, and nothing is claimed', async () => {
    const { held, ids } = await begun('lost', 2);
    const stale = { ...held, fencing_token: '9' };
    const lost = await report(app, stale, 'complete', { claim_next: { queue: 'lost' } });
    expect(lost).toMatchObject({ status: 409, body: { code: 'lease_lost' } });
    expect(await jobOf(app, held.id)).toMatchObject({ state: 'running' });
    expect(await jobOf(app, ids[1] ?? '')).toMatchObject({
      state: 'pending',
      attempt: 0,
      lease: null,
      attempts: [],
    });
    expect((await claimed(app, 'lost')).map(({ id }) => id)).toEqual([ids[1]]);
  });
});

describe('a token for certain queues', () => {
  test('completes, and claims from none but these', async () => {
    const { held } = await begun('mine', 2);
    await added(app, 'theirs');
    const options = { queues: ['mine'] };
    const refused = await report(
      app,
      held,
      'complete',
      { claim_next: { queue: 'theirs' } },
      options,
    );
    expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(await jobOf(app, held.id)).toMatchObject({ state: 'running' });
    const { body } = await report(
      app,
      held,
      'complete',
      { claim_next: { queue: 'mine' } },
      options,
    );
    expect(body).toMatchObject({ outcome: 'succeeded', next: { queue: 'mine' } });
  });
});

describe('B.3 a completion that claims, repeated after a lost answer', () => {
  test('gives the same outcome and the same lease for the same claim id', async () => {
    const { held, ids } = await begun('again', 3);
    const fields = { claim_next: { queue: 'again', claim_id: webIds.uuidv7() } };
    const first = (await report(app, held, 'complete', fields)).body;
    const again = (await report(app, held, 'complete', fields)).body;
    expect(again).toMatchObject({ outcome: 'succeeded', next: { id: ids[1], attempt: 1 } });
    for (const field of ['id', 'fencing_token', 'lease_expires_at']) {
      expect((again['next'] as PulledJob)[field]).toBe((first['next'] as PulledJob)[field]);
    }
    expect(await jobOf(app, ids[2] ?? '')).toMatchObject({ state: 'pending', attempt: 0 });
  });

  test('the operation itself, its answer dropped after the commit', async () => {
    const { held, ids } = await begun('dropped', 3);
    const { faults } = app.http.endpoint;
    faults.next({ kind: 'drop_after_commit' }, { match: /complete_and_claim/, times: 2 });
    const lease = { jobId: held.id, owner: 'route-tests', fencingToken: held.fencing_token };
    const claim = { queue: 'dropped', claimId: webIds.uuidv7() };
    const cost = await roundTrips(async () => {
      const end = await completeAndClaim(app.http.sql, { ...lease, ...claim, result: [1] });
      expect(end).toMatchObject({
        outcome: 'succeeded',
        moreDue: true,
        next: { jobId: ids[1], attempt: 1, fencingToken: '1' },
      });
    });
    expect(cost).toBe(3);
    expect(await jobOf(app, held.id)).toMatchObject({ state: 'succeeded', result: [1] });
    expect(await jobOf(app, ids[2] ?? '')).toMatchObject({ state: 'pending', attempt: 0 });
  });

  test('with an Idempotency-Key is a replay, whoever named the claim', async () => {
    const { held, ids } = await begun('keyed', 3);
    const fields = { claim_next: { queue: 'keyed' } };
    const options = { headers: { 'idempotency-key': 'keyed-1' } };
    const first = await report(app, held, 'complete', fields, options);
    const again = await report(app, held, 'complete', fields, options);
    expect(first.body).toMatchObject({ next: { id: ids[1] } });
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await jobOf(app, ids[2] ?? '')).toMatchObject({ state: 'pending', attempt: 0 });
  });
});
