import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { webIds } from '../../functions/web-ports.ts';
import { createAppHarness } from './support/app-harness.ts';
import type { AppHarness } from './support/app-harness.ts';

let app: AppHarness;
beforeAll(async () => {
  app = await createAppHarness();
});
afterAll(() => app.close());

const JOB = { queue: 'emails', type: 'email.send', payload: { to: 'ada@example.com' } };

async function countJobs(): Promise<number> {
  const { rows } = await app.database.pool.query<{ count: number }>(
    'select count(*)::int as count from leasehold.jobs',
  );
  return rows[0]?.count ?? -1;
}

function pathsOf(body: Readonly<Record<string, unknown>>): string[] {
  return (body['problems'] as { path: string }[]).map(({ path }) => path);
}

describe('C.6 producers POST to enqueue', () => {
  test('a new job is 201, the same job again is 200 with the same body', async () => {
    const body = { ...JOB, id: webIds.uuidv7(), priority: 'high', max_attempts: 3 };
    const first = await app.call('POST', '/v1/jobs', { body });
    const again = await app.call('POST', '/v1/jobs', { body });
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.body).toEqual(first.body);
    expect(first.headers.get('location')).toBe(`/v1/jobs/${body.id}`);
    expect(first.body).toMatchObject({
      id: body.id,
      queue: 'emails',
      priority: 'high',
      max_attempts: 3,
    });
  });

  test('an id that belongs to another job is 409 and shows nothing of it', async () => {
    const id = webIds.uuidv7();
    await app.call('POST', '/v1/jobs', { body: { ...JOB, id, payload: 'first-secret' } });
    const other = await app.call('POST', '/v1/jobs', { body: { ...JOB, id, payload: 'second' } });
    expect(other.status).toBe(409);
    expect(other.body).toMatchObject({ code: 'job_id_conflict', problems: [{ path: 'id' }] });
    expect(JSON.stringify(other.body)).not.toContain('first-secret');
  });

  test('a job can be read back, with the payload as it was sent', async () => {
    const payload = '{"__proto__":{"a":1},"n":0.1,"list":[[],{}],"text":"🐘\\u007f"}';
    const sent = `{"queue":"emails","type":"email.send","payload":${payload}}`;
    const { body } = await app.call('POST', '/v1/jobs', { body: sent });
    const read = await app.call('GET', `/v1/jobs/${String(body['id'])}`);
    expect(read.status).toBe(200);
    expect(read.body).toMatchObject({ state: 'pending', attempt: 0, created_by: 'route-tests' });
    const kept = read.body['payload'] as Record<string, unknown>;
    expect(Object.keys(kept).toSorted()).toEqual(['__proto__', 'list', 'n', 'text']);
    expect(JSON.parse(JSON.stringify(kept))).toEqual(JSON.parse(payload));
  });

  test('the trace of the request travels with the job, and what the body says wins', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const { body } = await app.call('POST', '/v1/jobs', {
      body: { ...JOB, headers: { tracestate: 'mine=1' } },
      headers: { traceparent, tracestate: 'theirs=1' },
    });
    const read = await app.call('GET', `/v1/jobs/${String(body['id'])}`);
    expect(read.body['headers']).toEqual({ traceparent, tracestate: 'mine=1' });
  });

  test('a delayed job waits for time', async () => {
    const { body } = await app.call('POST', '/v1/jobs', { body: { ...JOB, delay_seconds: 3600 } });
    const read = await app.call('GET', `/v1/jobs/${String(body['id'])}`);
    expect(read.body).toMatchObject({ state: 'pending', waiting_for: 'time' });
  });

  test('a rule that only the database can check is named without a list index', async () => {
    const old = await app.call('POST', '/v1/jobs', {
      body: { ...JOB, id: '01700000-0000-7000-8000-000000000000' },
    });
    expect(old.status).toBe(400);
    expect(pathsOf(old.body)).toEqual(['id']);
    expect(String(old.body['detail'])).toMatch(/^id: /);
  });
});

describe('a batch', () => {
  test('is stored whole, in order', async () => {
    const jobs = Array.from({ length: 1000 }, (_, at) => ({ ...JOB, payload: { at } }));
    const before = await countJobs();
    const stored = await app.call('POST', '/v1/jobs/batch', { body: { jobs } });
    expect(stored.status).toBe(201);
    expect(stored.body['jobs']).toHaveLength(1000);
    expect(
      new Set((stored.body['jobs'] as { outcome: string }[]).map(({ outcome }) => outcome)),
    ).toEqual(new Set(['created']));
    expect(await countJobs()).toBe(before + 1000);
  });

  test('with one fault is not stored at all, and the fault is named', async () => {
    const before = await countJobs();
    const refused = await app.call('POST', '/v1/jobs/batch', {
      body: { jobs: [JOB, { ...JOB, max_attempts: 0 }] },
    });
    expect(refused.status).toBe(400);
    expect(pathsOf(refused.body)).toEqual(['jobs[1].max_attempts']);
    const late = await app.call('POST', '/v1/jobs/batch', {
      body: { jobs: [JOB, { ...JOB, id: '01700000-0000-7000-8000-000000000000' }] },
    });
    expect(late.status).toBe(400);
    expect(pathsOf(late.body)).toEqual(['jobs[1].id']);
    expect(await countJobs()).toBe(before);
  });

  test('that is repeated is 200, and each job says that it exists', async () => {
    const jobs = [JOB, JOB].map((job) => ({ ...job, id: webIds.uuidv7() }));
    await app.call('POST', '/v1/jobs/batch', { body: { jobs } });
    const again = await app.call('POST', '/v1/jobs/batch', { body: { jobs } });
    expect(again.status).toBe(200);
    expect(again.body['jobs']).toMatchObject([{ outcome: 'exists' }, { outcome: 'exists' }]);
  });
});

test('S2.8 the actor in the log is who the token says, never what the body says', async () => {
  const forged = await app.call('POST', '/v1/jobs', { body: { ...JOB, actor: 'admin' } });
  expect(forged.status).toBe(400);
  const { body } = await app.call('POST', '/v1/jobs', {
    body: { ...JOB, payload: { actor: 'admin' } },
    headers: { 'x-actor': 'admin' },
  });
  const { rows } = await app.database.pool.query<{ actor: string }>(
    'select actor from leasehold.job_events where job_id = $1',
    [body['id']],
  );
  expect(rows).toEqual([{ actor: 'route-tests' }]);
});

test('S1.18 no payload reaches the log of a request', async () => {
  await app.call('POST', '/v1/jobs', { body: { ...JOB, payload: 'secret-payload' } });
  await app.call('POST', '/v1/jobs', { body: { ...JOB, payload: 'secret-payload', bad: 1 } });
  expect(app.log.lines.length).toBeGreaterThan(1);
  expect(app.log.text).not.toContain('secret-payload');
});
