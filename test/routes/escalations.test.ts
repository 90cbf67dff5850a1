import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { webIds } from '../../functions/web-ports.ts';
import { defineHandler } from '../../shared/handler.ts';
import { PermanentError } from '../../shared/handler-errors.ts';
import { createAppHarness } from './support/app-harness.ts';
import type { Answer, AppHarness, CallOptions } from './support/app-harness.ts';
import { added, claimed, claimedOne, jobOf, report } from './support/pull.ts';

const notes: (string | null)[] = [];
const strict = defineHandler({
  queue: 'handled',
  type: 'task',
  schema: z.unknown(),
  run: (_job, { note }) => {
    notes.push(note);
    if (note === null) throw new PermanentError('no_address', 'Nobody told me how.');
  },
});

let app: AppHarness;
beforeAll(async () => {
  app = await createAppHarness({ handlers: [strict] });
});
afterAll(() => app.close());

const FAILED = { error: { code: 'no_answer', message: 'The shop did not answer.' } };

const put = (queue: string, settings: object = {}): Promise<Answer> =>
  app.call('PUT', `/v1/queues/${queue}`, {
    body: { on_exhausted: 'escalate', backoff_base_ms: 0, ...settings },
  });

interface Held {
  readonly id: string;
  readonly fencing_token: string;
}

async function take(wanted: object, options: CallOptions = {}): Promise<Held | null> {
  const call = { body: wanted, actor: 'maria', ...options };
  const answer = await app.call('POST', '/v1/escalations/claims', call);
  expect(answer.status).toBe(200);
  return answer.body['job'] as Held | null;
}

async function held(id: string, actor = 'maria'): Promise<Held> {
  const job = await take({ job_id: id }, { actor });
  if (job === null) throw new Error('the job was not free');
  return job;
}

const settle = (job: Held, verb: string, body: object = {}, actor = 'maria'): Promise<Answer> =>
  app.call('POST', `/v1/escalations/${job.id}/${verb}`, {
    body: { fencing_token: job.fencing_token, ...body },
    actor,
  });

/** A job of a queue that escalates, whose worker has failed for good. */
async function escalated(queue: string, fields = {}): Promise<string> {
  await put(queue);
  const id = await added(app, queue, fields);
  const job = await claimedOne(app, queue);
  const { body } = await report(app, job, 'fail', { ...FAILED, class: 'permanent' });
  expect(body).toMatchObject({ outcome: 'dead', escalated: true });
  return id;
}

describe('S2.4 the third failure hands a task to people', () => {
  test('no agent gets it a fourth time; a person takes it and completes it', async () => {
    await put('thrice');
    const id = await added(app, 'thrice');
    for (const outcome of ['pending', 'pending', 'dead']) {
      const job = await claimedOne(app, 'thrice', {}, { actor: 'agent-7' });
      const answer = await report(
        app,
        job,
        'fail',
        { ...FAILED, class: 'transient' },
        { actor: 'agent-7' },
      );
      expect(answer.body['outcome']).toBe(outcome);
      expect(answer.body['escalated']).toBe(outcome === 'dead' ? true : undefined);
    }
    expect(await claimed(app, 'thrice')).toEqual([]);
    const { body } = await app.call('GET', '/v1/escalations?queue=thrice');
    expect(body).toMatchObject({
      jobs: [{ id, state: 'escalated', dead: null, escalated: { reason: 'failures_used_up' } }],
      next_cursor: null,
    });
    expect((await app.call('GET', '/v1/jobs?queue=thrice&state=escalated')).body).toMatchObject({
      jobs: [{ id }],
    });

    const job = await held(id);
    expect(job).toMatchObject({ id, payload: { n: 1 }, attempt: 3, error: FAILED.error });
    const done = await settle(job, 'complete', { result: { paid: true }, note: 'By hand.' });
    expect(done).toMatchObject({ status: 200, body: { outcome: 'succeeded' } });
    expect(await jobOf(app, id)).toMatchObject({
      state: 'succeeded',
      finished_by: 'maria',
      result: { paid: true },
    });
  });

  test('sent back with a note, the handler of the next attempt reads it, and a poke wakes it', async () => {
    await put('handled');
    const id = await added(app, 'handled');
    const first = await app.call('POST', '/v1/work', { body: { queue: 'handled' } });
    expect(first.body).toMatchObject({ outcome: 'escalated', job_id: id });
    app.pokes.length = 0;
    const sent = await settle(await held(id), 'send-back', { note: 'Use the invoice address.' });
    expect(sent).toMatchObject({ status: 200, body: { outcome: 'pending' } });
    await app.backgroundDone();
    expect(app.pokes).toMatchObject([{ queue: 'handled' }]);
    const second = await app.call('POST', '/v1/work', { body: { queue: 'handled' } });
    expect(second.body).toMatchObject({ outcome: 'succeeded', job_id: id, attempt: 1 });
    expect(notes).toEqual([null, 'Use the invoice address.']);
    expect(await jobOf(app, id)).toMatchObject({ state: 'succeeded' });
  });

  test('a worker that leases over HTTP gets the note with the job', async () => {
    const id = await escalated('pulled');
    await settle(await held(id), 'send-back', { note: 'Ask the bank first.' });
    expect(await claimedOne(app, 'pulled')).toMatchObject({
      id,
      note: 'Ask the bank first.',
      redrives: 1,
    });
    expect((await jobOf(app, id))['note']).toBe('Ask the bank first.');
  });

  test('discarded, it ends as cancelled', async () => {
    const id = await escalated('given-up');
    const end = await settle(await held(id), 'discard', { reason: 'The order was withdrawn.' });
    expect(end).toMatchObject({ status: 200, body: { outcome: 'cancelled' } });
    expect(await jobOf(app, id)).toMatchObject({
      state: 'cancelled',
      reason: 'The order was withdrawn.',
    });
  });

  test('let go of, it waits for the next person; the first cannot settle it any more', async () => {
    const id = await escalated('let-go');
    const job = await held(id);
    expect((await settle(job, 'release')).body).toEqual({ outcome: 'escalated' });
    const next = await held(id, 'tom');
    expect(await settle(job, 'complete')).toMatchObject({
      status: 409,
      body: { code: 'lease_lost' },
    });
    expect((await settle(next, 'complete', {}, 'tom')).status).toBe(200);
  });

  test('a long poll for the end of a job answers when a person is asked', async () => {
    const id = await escalated('polled');
    expect((await app.call('GET', `/v1/jobs/${id}?wait=20`)).body['state']).toBe('escalated');
  });

  test('the person who looks after it is noted as on a dead letter', async () => {
    const id = await escalated('noted');
    const path = `/v1/dead-letters/${id}`;
    const noted = await app.call('PATCH', path, { body: { owner: 'tom', note: 'asked' } });
    expect(noted).toMatchObject({
      status: 200,
      body: { state: 'escalated', escalated: { owner: 'tom', note: 'asked' } },
    });
    expect((await app.call('GET', path)).status).toBe(404);
    expect((await app.call('POST', `/v1/jobs/${id}/cancel`)).body['code']).toBe('job_ended');
  });
});

describe('an agent asks a person', () => {
  test('S2.4 with a question, which the person reads', async () => {
    const id = await added(app, 'asking');
    const job = await claimedOne(app, 'asking');
    const question = 'Which of the two addresses counts?';
    expect(await report(app, job, 'escalate', { question })).toMatchObject({
      status: 200,
      body: { outcome: 'escalated', more_due: false },
    });
    expect(await held(id)).toMatchObject({
      reason: 'asked_for_human',
      error: { message: question },
    });
    const late = await report(app, job, 'heartbeat', { step: 1 });
    expect(late).toMatchObject({ status: 409, body: { code: 'lease_lost' } });
  });
});

describe('S2.8 people are who their token says', () => {
  test('S2.4 every other scope together takes nothing from the human lane', async () => {
    const id = await escalated('scoped');
    const others = { scope: 'enqueue work operate read' };
    const claim = await app.call('POST', '/v1/escalations/claims', {
      body: { job_id: id, lease_seconds: 60 },
      ...others,
    });
    expect(claim).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(await take({ queue: 'scoped' }, { scope: 'human' })).toMatchObject({ id });
  });

  test('a hold is its holder’s: another person with its token settles nothing', async () => {
    const id = await escalated('mine');
    const job = await held(id);
    for (const [verb, body] of [
      ['complete', {}],
      ['send-back', { note: 'n' }],
      ['discard', { reason: 'r' }],
      ['release', {}],
    ] as const) {
      const answer = await settle(job, verb, body, 'eve');
      expect(answer).toMatchObject({ status: 409, body: { code: 'lease_lost' } });
    }
    expect((await settle(job, 'complete', { owner: 'eve' })).status).toBe(400);
  });

  test('a token for certain queues sees and takes only theirs', async () => {
    const hidden = await escalated('hidden');
    const seen = await escalated('seen');
    const some = { queues: ['seen', 'handled'] };
    const { body } = await app.call('GET', '/v1/escalations', some);
    expect((body['jobs'] as { id: string }[]).map(({ id }) => id)).toEqual([seen]);
    expect((await app.call('GET', '/v1/escalations?queue=hidden', some)).status).toBe(403);
    const claim = async (wanted: object): Promise<Answer> =>
      await app.call('POST', '/v1/escalations/claims', { body: wanted, ...some });
    expect((await claim({ job_id: hidden })).status).toBe(404);
    expect((await claim({ queue: 'hidden' })).status).toBe(403);
    expect((await claim({})).body['job']).toMatchObject({ id: seen });
    expect((await claim({})).body['job']).toBeNull();
    const token = await held(hidden);
    const foreign = await app.call('POST', `/v1/escalations/${hidden}/complete`, {
      body: { fencing_token: token.fencing_token },
      actor: 'maria',
      ...some,
    });
    expect(foreign.status).toBe(404);
  });
});

describe('holds', () => {
  test('a repeated claim gives the same hold, and names its id when the caller chose none', async () => {
    const id = await escalated('repeated');
    const claim_id = webIds.uuidv7();
    const first = await take({ queue: 'repeated', claim_id });
    expect(await take({ queue: 'repeated', claim_id })).toMatchObject({
      ...first,
      lease_remaining_ms: expect.any(Number) as number,
    });
    const { body } = await app.call('POST', '/v1/escalations/claims', {
      body: { job_id: id },
      actor: 'tom',
    });
    expect(body).toEqual({ claim_id: expect.any(String) as string, job: null });
    const stolen = await app.call('POST', '/v1/escalations/claims', {
      body: { claim_id },
      actor: 'tom',
    });
    expect(stolen).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });

  test.each([
    ['claims', { lease_seconds: 0 }, 'lease_seconds'],
    ['claims', { lease_seconds: 86_401 }, 'lease_seconds'],
    ['send-back', {}, 'note'],
    ['send-back', { note: '' }, 'note'],
    ['send-back', { note: 'x'.repeat(4001) }, 'note'],
    ['complete', { note: 'x'.repeat(4001) }, 'note'],
    ['discard', { reason: 'x'.repeat(1001) }, 'reason'],
    ['complete', { result: 'x'.repeat(256 * 1024) }, 'result'],
  ])('%s names the field that is out of range: %#', async (verb, fields, path) => {
    const body = verb === 'claims' ? fields : { fencing_token: '1', ...fields };
    const at = verb === 'claims' ? verb : `${webIds.uuidv7()}/${verb}`;
    const answer = await app.call('POST', `/v1/escalations/${at}`, { body });
    expect(answer).toMatchObject({ status: 400, body: { problems: [{ path }] } });
  });

  test('the longest that are allowed are taken', async () => {
    const id = await escalated('edges');
    const job = await take({ job_id: id, lease_seconds: 86_400 });
    if (job === null) throw new Error('the job was not free');
    expect((await settle(job, 'send-back', { note: 'x'.repeat(4000) })).status).toBe(200);
    expect((await claimedOne(app, 'edges'))['note']).toHaveLength(4000);
  });

  test('a dedup key that a live job has meanwhile is named, and the hold goes on', async () => {
    const id = await escalated('dedup', { dedup_key: 'order-7' });
    const clash = await added(app, 'dedup', { dedup_key: 'order-7' });
    const job = await held(id);
    expect(await settle(job, 'send-back', { note: 'n' })).toMatchObject({
      status: 409,
      body: { code: 'dedup_key_taken', clash },
    });
    expect((await settle(job, 'discard', { reason: 'r' })).status).toBe(200);
  });
});
