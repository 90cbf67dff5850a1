import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { relayScheduled } from '../../functions/scheduled/relay.ts';
import { webIds } from '../../functions/web-ports.ts';
import { OPERATIONS } from '../../shared/openapi/operations.ts';
import type { PublishOutcome } from '../../shared/publish/publisher.ts';
import { beginEffect } from '../../shared/queue/begin-effect.ts';
import { createAppHarness } from '../routes/support/app-harness.ts';
import type { Answer, AppHarness, CallOptions } from '../routes/support/app-harness.ts';
import { createAnswerChecker } from './support/answer-checker.ts';
import { GENERATED } from './support/documents.ts';

let app: AppHarness;
const checker = createAnswerChecker(GENERATED);
beforeAll(async () => {
  app = await createAppHarness();
});
afterAll(() => app.close());

/** Calls the running app, and holds what it answers against the document. */
async function call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
  const answer = await app.call(method, path, options);
  expect(checker.faults({ method, path, ...answer })).toEqual([]);
  return answer;
}

const post = (path: string, body?: unknown, headers = {}): Promise<Answer> =>
  call('POST', path, body === undefined ? { headers } : { body, headers });

async function enqueue(queue: string, fields = {}): Promise<string> {
  const { body } = await post('/v1/jobs', { queue, type: 'try', payload: { a: [1] }, ...fields });
  return body['id'] as string;
}

interface Leased {
  readonly id: string;
  readonly fencing_token: string;
}

async function claim(queue: string): Promise<Leased> {
  const { body } = await post(`/v1/queues/${queue}/claims`);
  const [job] = body['jobs'] as Leased[];
  if (job === undefined) throw new Error(`nothing to claim in ${queue}`);
  return job;
}

async function report(verb: string, queue: string, body = {}): Promise<Answer> {
  await enqueue(queue);
  const { id, fencing_token } = await claim(queue);
  return await post(`/v1/leases/${id}/${verb}`, { fencing_token, ...body });
}

const DECLINED = { error: { code: 'declined', message: 'no', bank: 7 }, class: 'permanent' };

async function makeDead(queue: string, fields = {}): Promise<string> {
  await enqueue(queue, fields);
  const { id, fencing_token } = await claim(queue);
  await post(`/v1/leases/${id}/fail`, { fencing_token, ...DECLINED });
  return id;
}

describe('S2.9 real answers are as the contract says', () => {
  test('jobs', async () => {
    const id = webIds.uuidv7();
    const job = {
      id,
      queue: 'jobs',
      type: 'try',
      payload: null,
      dedup_key: 'k',
      ordering_key: 'o',
      tags: ['t'],
      headers: { a: 'b' },
      delay_seconds: 60,
    };
    expect((await post('/v1/jobs', job)).status).toBe(201);
    expect((await post('/v1/jobs', job)).status).toBe(200);
    expect((await post('/v1/jobs', { ...job, id: webIds.uuidv7() })).body['outcome']).toBe(
      'duplicate',
    );
    expect((await post('/v1/jobs', { ...job, type: 'other' })).status).toBe(409);
    expect((await post('/v1/jobs', { ...job, prioritty: 'high' })).status).toBe(400);
    expect((await post('/v1/jobs', '{')).status).toBe(400);
    expect((await post('/v1/jobs', 'x', { 'content-type': 'text/plain' })).status).toBe(415);
    const batch = { jobs: [{ ...job, id: webIds.uuidv7(), dedup_key: 'l' }] };
    expect((await post('/v1/jobs/batch', batch)).status).toBe(201);
    expect((await post('/v1/jobs/batch', batch)).status).toBe(200);
    await call('GET', '/v1/jobs?queue=jobs&limit=1');
    await call('GET', `/v1/jobs/${id}`);
    expect((await call('GET', `/v1/jobs/${webIds.uuidv7()}`)).status).toBe(404);
    await call('PATCH', `/v1/jobs/${id}`, { body: { priority: 'high' } });
    expect((await post(`/v1/jobs/${id}/cancel`)).status).toBe(200);
    expect((await call('PATCH', `/v1/jobs/${id}`, { body: { priority: 'low' } })).status).toBe(409);
    await call('GET', `/v1/jobs/${id}`);
  });

  test('refusals before the route', async () => {
    expect((await call('GET', '/v1/jobs', { scope: null })).status).toBe(401);
    expect((await call('GET', '/v1/jobs', { scope: 'work' })).status).toBe(403);
    const keyed = { 'idempotency-key': 'contract' };
    expect((await post('/v1/jobs', { queue: 'k', type: 't', payload: 1 }, keyed)).status).toBe(201);
    expect((await post('/v1/jobs', { queue: 'k', type: 't', payload: 2 }, keyed)).status).toBe(422);
  });

  test('claims and leases', async () => {
    expect((await post('/v1/queues/empty/claims', {})).body['jobs']).toEqual([]);
    await enqueue('many');
    await post('/v1/claims', { queues: ['many', { name: 'empty' }], limit: 2 });
    await enqueue('leases');
    const { id, fencing_token } = await claim('leases');
    await post(`/v1/leases/${id}/heartbeat`, { fencing_token, step: 1, progress: 'half' });
    await call('GET', `/v1/jobs/${id}`);
    expect((await post(`/v1/jobs/${id}/cancel`, { reason: 'r' })).status).toBe(202);
    expect((await post(`/v1/leases/${id}/complete`, { fencing_token, result: [1] })).status).toBe(
      200,
    );
    await call('GET', `/v1/jobs/${id}`);
    expect((await post(`/v1/leases/${id}/heartbeat`, { fencing_token, step: 2 })).status).toBe(409);
    await report('complete', 'a');
    await enqueue('next');
    const went = await report('complete', 'first', { claim_next: { queue: 'next' } });
    expect(went.body).toMatchObject({ next: { queue: 'next' } });
    const none = await report('complete', 'last', { claim_next: { queue: 'next' } });
    expect(none.body).toMatchObject({ next: null });
    await report('fail', 'b', { error: { code: 'x', message: 'y' }, class: 'transient' });
    await report('release', 'c', { reason: 'shutdown' });
    await report('snooze', 'd', { delay_seconds: 5 });
    const { body } = await call('GET', '/v1/jobs?queue=b');
    const [failed] = body['jobs'] as { id: string }[];
    await call('GET', `/v1/jobs/${failed?.id ?? ''}`);
    await enqueue('called-off');
    const held = await claim('called-off');
    await post(`/v1/jobs/${held.id}/cancel`);
    const given = { fencing_token: held.fencing_token };
    expect((await post(`/v1/leases/${held.id}/release`, given)).body['outcome']).toBe('cancelled');
  });

  test('queues', async () => {
    await call('PUT', '/v1/queues/q', { body: { weight: 3, concurrency_limit: null } });
    await post('/v1/queues/q/pause', { reason: 'r' });
    await call('GET', '/v1/queues/q');
    expect((await call('GET', '/v1/overview')).body['queues']).not.toEqual([]);
    await post('/v1/queues/q/resume');
    expect((await call('GET', '/v1/queues/none')).status).toBe(404);
    await enqueue('q', { ordering_key: 'o' });
    await enqueue('q', { ordering_key: 'o' });
    const { body } = await call('GET', '/v1/queues/q/blocked-keys');
    expect(body['keys']).toHaveLength(1);
    await call('GET', '/v1/queues?limit=2');
  });

  test('dead letters', async () => {
    const first = await makeDead('dead', { dedup_key: 'd' });
    const second = await makeDead('dead');
    await call('GET', '/v1/dead-letters?limit=1');
    await call('PATCH', `/v1/dead-letters/${first}`, { body: { owner: 'ada', note: 'asked' } });
    await call('GET', `/v1/dead-letters/${first}`);
    expect((await post(`/v1/dead-letters/${first}/effects/none`, { state: 'done' })).status).toBe(
      404,
    );
    const filter = { queue: 'dead' };
    await post('/v1/dead-letters/redrive-matching', { filter, dry_run: true });
    const wrong = { filter, expected_count: 9, reason: 'r' };
    expect((await post('/v1/dead-letters/discard-matching', wrong)).status).toBe(409);
    await enqueue('dead', { dedup_key: 'd' });
    const { body } = await post('/v1/dead-letters/redrive', {
      job_ids: [first, second],
      reason: 'r',
    });
    expect(body['settled']).toBe(1);
    await post('/v1/dead-letters/discard', { job_ids: [first, second], reason: 'r' });
    await makeDead('bulk');
    const all = { filter: { queue: 'bulk' }, expected_count: 1, reason: 'r' };
    await post('/v1/dead-letters/discard-matching', all);
    await enqueue('effects');
    const { id: uncertain, fencing_token } = await claim('effects');
    const lease = { jobId: uncertain, owner: 'route-tests', fencingToken: fencing_token };
    await beginEffect(app.http.sql, { ...lease, key: 'charge' });
    await post(`/v1/leases/${uncertain}/fail`, { fencing_token, ...DECLINED });
    await call('GET', `/v1/dead-letters/${uncertain}`);
    await post(`/v1/dead-letters/${uncertain}/effects/charge`, {
      state: 'done',
      result: { id: 1 },
    });
  });

  test('escalations', async () => {
    await call('PUT', '/v1/queues/people', { body: { on_exhausted: 'escalate' } });
    const taken = async (job_id: string): Promise<{ readonly fencing_token: string }> => {
      const { body } = await post('/v1/escalations/claims', { job_id, lease_seconds: 60 });
      return { fencing_token: (body['job'] as Leased).fencing_token };
    };
    expect((await post('/v1/escalations/claims')).body['job']).toBeNull();
    const id = await makeDead('people');
    await call('GET', '/v1/escalations?queue=people&limit=1');
    const hold = await taken(id);
    await call('GET', `/v1/jobs/${id}`);
    await call('GET', '/v1/escalations');
    await call('PATCH', `/v1/dead-letters/${id}`, { body: { owner: 'ada' } });
    await post(`/v1/escalations/${id}/release`, hold);
    expect((await post(`/v1/escalations/${id}/complete`, hold)).status).toBe(409);
    await post(`/v1/escalations/${id}/complete`, { ...(await taken(id)), result: 1, note: 'n' });
    await call('GET', `/v1/jobs/${id}`);

    const again = await makeDead('people', { dedup_key: 'd' });
    const back = { ...(await taken(again)), note: 'Once more.' };
    await enqueue('people', { dedup_key: 'd' });
    const clash = await post(`/v1/escalations/${again}/send-back`, back);
    expect(clash).toMatchObject({ status: 409, body: { code: 'dedup_key_taken' } });
    await claim('people');
    await post(`/v1/escalations/${again}/discard`, { ...(await taken(again)), reason: 'r' });

    const asked = await report('escalate', 'asking', { question: 'Which one?' });
    expect(asked.body).toMatchObject({ outcome: 'escalated' });
    const { body } = await call('GET', '/v1/escalations?queue=asking');
    const [waiting] = body['jobs'] as { id: string }[];
    const { id: sent = '' } = waiting ?? {};
    await post(`/v1/escalations/${sent}/send-back`, { ...(await taken(sent)), note: 'This one.' });
    expect(await claim('asking')).toMatchObject({ id: sent, note: 'This one.' });
    await call('GET', `/v1/jobs/${sent}`);
  });

  test('schedules', async () => {
    const body = { cron: '0 7 * * *', zone: 'Europe/Berlin', queue: 's', type: 't', payload: {} };
    await call('PUT', '/v1/schedules/daily', { body });
    await call('PUT', '/v1/schedules/daily', { body: { ...body, zone: 'Mars/Olympus' } });
    await call('GET', '/v1/schedules/daily');
    await call('GET', '/v1/schedules?limit=1');
    await post('/v1/schedules/daily/pause');
    await post('/v1/schedules/daily/resume');
    expect((await call('DELETE', '/v1/schedules/daily')).status).toBe(204);
    expect((await call('DELETE', '/v1/schedules/daily')).status).toBe(404);
  });

  test('the outbox', async () => {
    const id = webIds.uuidv7();
    const event = { id, aggregate_type: 'order', aggregate_id: 'a/1', type: 'order.placed' };
    expect((await post('/v1/outbox/events', { ...event, payload: null })).status).toBe(201);
    expect((await post('/v1/outbox/events', { ...event, payload: null })).status).toBe(200);
    expect((await post('/v1/outbox/events', event)).status).toBe(409);
    const gap = { ...event, id: webIds.uuidv7(), version: 7 };
    expect((await post('/v1/outbox/events', gap)).body).toMatchObject({
      code: 'version_conflict',
      expected_version: 2,
    });
    const publish = async (): Promise<PublishOutcome> => ({
      outcome: 'rejected',
      error: { code: 'http_422', message: 'Unknown version.' },
    });
    const publishing = app.deps({ publisher: { publish } });
    await relayScheduled(publishing);
    expect((await call('GET', `/v1/outbox/events/${id}`)).body).toMatchObject({
      state: 'quarantined',
      has_payload: true,
      payload: null,
    });
    await call('GET', '/v1/outbox/events?state=quarantined&limit=1');
    const chosen = { event_ids: [id], reason: 'r' };
    expect((await post('/v1/outbox/replay', chosen)).body).toMatchObject({ settled: 1 });
    await relayScheduled(publishing);
    expect((await post('/v1/outbox/skip', chosen)).body).toMatchObject({ settled: 1 });
    await call('GET', `/v1/outbox/events/${id}`);
    const inOrder = await call('GET', '/v1/outbox/aggregates/order/a%2F1/events?limit=5');
    expect(inOrder.body).toMatchObject({ events: [{ id, state: 'skipped' }] });
    await call('GET', '/v1/outbox/feed?limit=5');
    await app.http.sql.query('select * from leasehold.accept_event($1, $2)', ['stock', id]);
    expect((await call('GET', '/v1/outbox/metrics')).body).toMatchObject({
      consumers: [{ consumer: 'stock', accepted: 1 }],
    });
  });

  test('the event log', async () => {
    const id = await enqueue('logged');
    await call('GET', `/v1/jobs/${id}/events`);
    expect((await call('GET', '/v1/events?queue=logged')).body['events']).toHaveLength(1);
    await call('GET', `/v1/board?at=${new Date().toISOString()}&queue=logged`);
  });

  test('the service', async () => {
    await call('GET', '/v1/health');
    await call('GET', '/v1/ready');
    await post('/v1/work', { queue: 'nobody' });
    expect((await call('GET', '/openapi.json')).body).toEqual(GENERATED);
  });

  test('an outage', async () => {
    app.http.endpoint.faults.next({ kind: 'sql_error', code: 'XX000' });
    expect((await call('GET', '/v1/jobs')).status).toBe(500);
  });

  test('every success that is promised was seen', () => {
    const promised = OPERATIONS.flatMap(({ id, success }) =>
      Object.keys(success).map((status) => `${id} ${status}`),
    );
    const unseen = promised.filter((name) => !checker.seen.has(name));
    // Not JSON: other tests read them.
    expect(unseen).toEqual(['followEventLog 200', 'readMetrics 200', 'docs 200']);
  });
});
