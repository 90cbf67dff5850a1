import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { webIds } from '../../functions/web-ports.ts';
import { createAppHarness } from './support/app-harness.ts';
import type { Answer, AppHarness } from './support/app-harness.ts';
import { added, claimed, claimedOne, dead, jobOf, report } from './support/pull.ts';

let app: AppHarness;
beforeAll(async () => {
  app = await createAppHarness();
});
afterAll(() => app.close());

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

const post = (verb: string, body: unknown): Promise<Answer> =>
  app.call('POST', `/v1/dead-letters/${verb}`, { body, actor: 'maria' });

async function someDead(queue: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let at = 0; at < count; at += 1) ids.push(await dead(app, queue));
  return ids;
}

describe('S1.11 dead jobs can be looked at', () => {
  test('by pages, the oldest first', async () => {
    const ids = await someDead('listed', 3);
    const first = await app.call('GET', '/v1/dead-letters?queue=listed&limit=2');
    expect((first.body['jobs'] as { id: string }[]).map(({ id }) => id)).toEqual(ids.slice(0, 2));
    const cursor = String(first.body['next_cursor']);
    const second = await app.call('GET', `/v1/dead-letters?queue=listed&limit=2&cursor=${cursor}`);
    expect(second.body).toMatchObject({ jobs: [{ id: ids[2] }], next_cursor: null });
  });

  test('case R3 with reason, last error and every attempt', async () => {
    await app.call('PUT', '/v1/queues/thrice', { body: { backoff_base_ms: 0, max_attempts: 3 } });
    const id = await added(app, 'thrice');
    for (const message of ['first', 'second', 'third']) {
      const job = await claimedOne(app, 'thrice');
      await report(app, job, 'fail', { error: { code: 'e', message }, class: 'transient' });
    }
    const { status, body } = await app.call('GET', `/v1/dead-letters/${id}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      dead: { reason: 'attempts_used_up', error: { message: 'third' } },
      attempts: ['first', 'second', 'third'].map((message) => ({ error: { message } })),
    });
  });

  test('and only they: a live job is 404 here', async () => {
    const id = await added(app, 'alive');
    expect((await app.call('GET', `/v1/dead-letters/${id}`)).status).toBe(404);
    const noted = await app.call('PATCH', `/v1/dead-letters/${id}`, { body: { note: 'x' } });
    expect(noted.status).toBe(404);
    expect((await app.call('GET', '/v1/dead-letters/nonsense')).status).toBe(400);
  });

  test('and get an owner and a note', async () => {
    const id = await dead(app, 'noted');
    const path = `/v1/dead-letters/${id}`;
    const owned = await app.call('PATCH', path, { body: { owner: 'maria' } });
    expect(owned.body).toMatchObject({ id, dead: { owner: 'maria', note: null } });
    const noted = await app.call('PATCH', path, { body: { note: 'asked the bank\nagain' } });
    expect(noted.body).toMatchObject({ dead: { owner: 'maria', note: 'asked the bank\nagain' } });
  });
});

describe('S1.11 dead jobs go back by chosen ids with a reason', () => {
  test('case G3 as the job they were, again and again', async () => {
    await app.call('PUT', '/v1/queues/twice', { body: { backoff_base_ms: 0, max_attempts: 1 } });
    const id = await added(app, 'twice', {
      payload: { keep: true },
      priority: 'high',
      dedup_key: 'D',
      ordering_key: 'O',
      tags: ['kept'],
      headers: { traceparent: TRACE },
    });
    for (const redrives of [0, 1, 2]) {
      const job = await claimedOne(app, 'twice');
      expect(job).toMatchObject({
        id,
        attempt: 1,
        redrives,
        fencing_token: String(redrives + 1),
        payload: { keep: true },
        priority: 'high',
        ordering_key: 'O',
        headers: { traceparent: TRACE },
      });
      await report(app, job, 'fail', { error: { code: 'e', message: 'm' }, class: 'transient' });
      const { body } = await app.call('GET', `/v1/dead-letters/${id}`);
      expect(body).toMatchObject({
        dead: { reason: 'attempts_used_up' },
        redrives,
        tags: ['kept'],
      });
      expect(body['attempts']).toHaveLength(redrives + 1);
      if (redrives === 2) break;
      const sent = await post('redrive', { job_ids: [id], reason: `round ${redrives}` });
      expect(sent.body).toEqual({ settled: 1, jobs: [{ id, outcome: 'redriven' }] });
    }
    const { rows } = await app.database.pool.query(
      `select actor, details ->> 'reason' as reason
       from leasehold.job_events where job_id = $1 and type = 'redriven' order by id`,
      [id],
    );
    expect(rows).toEqual([
      { actor: 'maria', reason: 'round 0' },
      { actor: 'maria', reason: 'round 1' },
    ]);
  });

  test('never without a reason, and never all at once', async () => {
    const id = await dead(app, 'reasons');
    for (const body of [
      { job_ids: [id] },
      { job_ids: [id], reason: '' },
      { job_ids: [], reason: 'r' },
      { reason: 'all of them' },
    ]) {
      expect((await post('redrive', body)).status).toBe(400);
      expect((await post('discard', body)).status).toBe(400);
    }
    expect(await jobOf(app, id)).toMatchObject({ state: 'dead' });
  });

  test('a dedup key that is taken again meanwhile is reported for its job, and nothing is lost', async () => {
    const old = await dead(app, 'clash', { dedup_key: 'D' });
    const [other = ''] = await someDead('clash', 1);
    const live = await added(app, 'clash', { dedup_key: 'D' });
    const missing = webIds.uuidv7();
    const { body } = await post('redrive', { job_ids: [old, other, missing], reason: 'r' });
    expect(body).toEqual({
      settled: 1,
      jobs: [
        { id: old, outcome: 'dedup_key_taken', clash: live },
        { id: other, outcome: 'redriven' },
        { id: missing, outcome: 'not_dead' },
      ],
    });
    expect(await jobOf(app, old)).toMatchObject({ state: 'dead' });
  });

  test('a rate spreads them out', async () => {
    const ids = await someDead('slowly', 3);
    await post('redrive', { job_ids: ids, reason: 'r', per_second: 1 });
    expect(await claimed(app, 'slowly', { limit: 10 })).toHaveLength(1);
    const { rows } = await app.database.pool.query<{ spread: number }>(
      `select extract(epoch from max(due_at) - min(due_at))::int as spread
       from leasehold.job_state where queue = 'slowly' and lane > 0`,
    );
    expect(rows[0]?.spread).toBe(1);
  });

  test('and can be given up', async () => {
    const [id = ''] = await someDead('given-up', 1);
    const body = { job_ids: [id, id], reason: 'customer left' };
    expect((await post('discard', body)).body).toEqual({
      settled: 1,
      jobs: [{ id, outcome: 'discarded' }],
    });
    expect((await post('discard', body)).body).toEqual({
      settled: 0,
      jobs: [{ id, outcome: 'not_dead' }],
    });
    expect(await jobOf(app, id)).toMatchObject({
      state: 'cancelled',
      finished_by: 'maria',
      reason: 'customer left',
    });
  });
});

describe('S1.11 the bulk forms take a filter and the count that a person saw', () => {
  test('a dry run shows count and sample, and changes nothing', async () => {
    const ids = await someDead('dry', 3);
    for (const verb of ['redrive-matching', 'discard-matching']) {
      expect((await post(verb, { filter: { queue: 'dry' }, dry_run: true })).body).toEqual({
        dry_run: true,
        count: 3,
        more: false,
        sample: ids,
      });
    }
    expect(await jobOf(app, ids[0] ?? '')).toMatchObject({ state: 'dead' });
  });

  test('another count is 409 with the actual one, and nothing changes', async () => {
    await someDead('counted', 2);
    for (const [verb, expected] of [
      ['redrive-matching', 1],
      ['redrive-matching', 3],
      ['discard-matching', 0],
    ] as const) {
      const refused = await post(verb, {
        filter: { queue: 'counted' },
        expected_count: expected,
        reason: 'r',
      });
      expect(refused).toMatchObject({
        status: 409,
        body: { code: 'count_mismatch', actual_count: 2, expected_count: expected, more: false },
      });
    }
    const { body } = await app.call('GET', '/v1/dead-letters?queue=counted');
    expect(body['jobs']).toHaveLength(2);
  });

  test('the right count settles what the filter fits, and nothing else', async () => {
    const ids = await someDead('matched', 2);
    const other = await dead(app, 'matched', { type: 'other' });
    const order = { filter: { queue: 'matched', type: 'task' }, expected_count: 2, reason: 'r' };
    const sent = await post('redrive-matching', { ...order, per_second: 1000 });
    expect(sent.body).toMatchObject({ settled: 2, jobs: ids.map((id) => ({ id })) });
    expect(await jobOf(app, other)).toMatchObject({ state: 'dead' });
    const rest = { filter: { queue: 'matched' }, expected_count: 1, reason: 'r' };
    expect((await post('discard-matching', rest)).body).toMatchObject({
      settled: 1,
      jobs: [{ id: other, outcome: 'discarded' }],
    });
    const none = { ...rest, expected_count: 0 };
    expect((await post('discard-matching', none)).body).toEqual({ settled: 0, jobs: [] });
  });

  test('more than 1,000 are never settled by one call, 1,000 are', async () => {
    const jobs = Array.from({ length: 1000 }, () => ({ queue: 'many', type: 't', payload: 0 }));
    await app.call('POST', '/v1/jobs/batch', { body: { jobs } });
    await added(app, 'many');
    await app.database.pool.query(
      `select leasehold.bury(s, clock_timestamp(), 'test', 'attempts_used_up', '{}')
       from leasehold.job_state s where s.queue = 'many'`,
    );
    const order = { filter: { queue: 'many' }, expected_count: 1000, reason: 'r' };
    const refused = await post('discard-matching', order);
    expect(refused).toMatchObject({ status: 409, body: { actual_count: 1000, more: true } });
    const [one] = (await app.call('GET', '/v1/dead-letters?queue=many&limit=1')).body['jobs'] as {
      id: string;
    }[];
    await post('discard', { job_ids: [one?.id], reason: 'r' });
    expect((await post('discard-matching', order)).body).toMatchObject({ settled: 1000 });
  });
});

describe('S1.12 an effect of which nobody knows how it ended', () => {
  async function uncertain(queue: string): Promise<string> {
    const id = await added(app, queue);
    const job = await claimedOne(app, queue);
    await app.database.pool.query('select * from leasehold.begin_effect($1, $2, $3, $4)', [
      id,
      'route-tests',
      job.fencing_token,
      'charge card',
    ]);
    await report(app, job, 'fail', { error: { code: 'e', message: 'm' }, class: 'permanent' });
    return id;
  }

  test('is settled by a person', async () => {
    const id = await uncertain('effects');
    expect((await app.call('GET', `/v1/dead-letters/${id}`)).body['effects']).toMatchObject([
      { key: 'charge card', state: 'uncertain' },
    ]);
    const settled = await post(`${id}/effects/charge%20card`, {
      state: 'done',
      result: { id: 'ch_1' },
    });
    expect(settled).toMatchObject({ status: 200, body: { key: 'charge card', state: 'done' } });
    expect((await app.call('GET', `/v1/dead-letters/${id}`)).body['effects']).toMatchObject([
      { state: 'done', settled_by: 'maria', result: { id: 'ch_1' } },
    ]);
  });

  test('not while an attempt runs, and not one that is not there', async () => {
    const id = await uncertain('running-effects');
    expect((await post(`${id}/effects/other`, { state: 'done' })).status).toBe(404);
    await post('redrive', { job_ids: [id], reason: 'r' });
    await claimedOne(app, 'running-effects');
    expect(await post(`${id}/effects/charge%20card`, { state: 'not_done' })).toMatchObject({
      status: 409,
      body: { code: 'job_running' },
    });
  });
});
