import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { MAX_BODY_BYTES } from '../../shared/limits.ts';
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

describe('case A1 U+0000 is 400 with its path on every way in, and nothing is written', () => {
  test.each([
    ['/v1/jobs', (job: string) => job, ''],
    ['/v1/jobs/batch', (job: string) => `{"jobs":[${job}]}`, 'jobs[0].'],
  ])('%s', async (path, wrap, prefix) => {
    const before = await countJobs();
    const nul = String.raw`\u0000`;
    const cases: [string, string][] = [
      [`{"queue":"q","type":"t","payload":{"a":{"b":"${nul}"}}}`, 'payload.a.b'],
      [`{"queue":"q","type":"t","payload":[1,"${nul}"]}`, 'payload[1]'],
      [`{"queue":"q","type":"t","payload":{"k${nul}":1}}`, String.raw`payload["k\u0000"]`],
      [`{"queue":"q","type":"t","payload":1,"headers":{"a":"${nul}"}}`, 'headers.a'],
      [`{"queue":"q${nul}","type":"t","payload":1}`, 'queue'],
      [`{"queue":"q","type":"t${nul}","payload":1}`, 'type'],
    ];
    for (const [job, where] of cases) {
      const { status, body } = await app.call('POST', path, { body: wrap(job) });
      expect(status).toBe(400);
      expect(pathsOf(body)).toEqual([prefix + where]);
    }
    expect(await countJobs()).toBe(before);
  });
});

test('case A3 an integer beyond a double is 400, and one as text keeps its digits', async () => {
  const refused = await app.call('POST', '/v1/jobs', {
    body: '{"queue":"q","type":"t","payload":{"order":9007199254740993}}',
  });
  expect(refused.status).toBe(400);
  expect(pathsOf(refused.body)).toEqual(['payload.order']);
  const { body } = await app.call('POST', '/v1/jobs', {
    body: { ...JOB, payload: { order: '9007199254740993' } },
  });
  const read = await app.call('GET', `/v1/jobs/${String(body['id'])}`);
  expect(read.body['payload']).toEqual({ order: '9007199254740993' });
});

test('case A5 a number out of range is 400 before any SQL', async () => {
  await app.call('POST', '/v1/jobs', { body: JOB }); // the isolate has seen its schema
  const before = app.http.endpoint.requests;
  for (const fields of [
    { priority: 2147483648 },
    { priority: '5' },
    { delay_seconds: -1e15 },
    { delay_seconds: 1e308 },
    { max_attempts: 0 },
    { max_attempts: -1 },
  ]) {
    const { status, body } = await app.call('POST', '/v1/jobs', { body: { ...JOB, ...fields } });
    expect(status).toBe(400);
    expect(pathsOf(body)).toEqual(Object.keys(fields));
  }
  expect(app.http.endpoint.requests).toBe(before);
});

describe('case L3 a name works everywhere or is refused with the rule', () => {
  test.each([
    'image-worker',
    'a'.repeat(47),
    'a'.repeat(48),
    'a'.repeat(63),
    'a'.repeat(64),
    `it's "quoted"; drop table leasehold.jobs; --`,
    '🐘'.repeat(128),
    '../x',
    '%00',
    'a&b=c#d',
  ])('%s', async (queue) => {
    const { status, body } = await app.call('POST', '/v1/jobs', {
      body: { ...JOB, queue, type: queue },
    });
    expect(status).toBe(201);
    const listed = await app.call('GET', `/v1/jobs?queue=${encodeURIComponent(queue)}`);
    expect(listed.body['jobs']).toMatchObject([{ id: body['id'], queue, type: queue }]);
  });

  test.each(['', ' ', '.', '..', 'a'.repeat(300), 'a\u0000', 'tab\t'])('%j', async (queue) => {
    const { status, body } = await app.call('POST', '/v1/jobs', { body: { ...JOB, queue } });
    expect(status).toBe(400);
    expect(pathsOf(body)).toEqual(['queue']);
  });
});

describe('case R19 a broken body is 400, never 500', () => {
  test.each([
    ['broken text', '{bad'],
    ['nothing', ''],
    ['null', 'null'],
    ['a list', '[]'],
    ['text', '"job"'],
    ['a byte order mark', '\ufeff{}'],
    ['duplicate keys', '{"queue":"a","queue":"b","type":"t","payload":1}'],
    [
      'depth 100,000',
      `{"queue":"q","type":"t","payload":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    ],
    ['UTF-16', Buffer.from(JSON.stringify(JOB), 'utf16le')],
    ['bytes that are no text', Uint8Array.of(0x22, 0xff, 0x22)],
  ])('%s', async (_name, body) => {
    const answer = await app.call('POST', '/v1/jobs', { body });
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
  });

  test('a charset is seen as JSON, other types are 415', async () => {
    const send = async (type: string): Promise<number> =>
      (await app.call('POST', '/v1/jobs', { body: JOB, headers: { 'content-type': type } })).status;
    expect(await send('application/json; charset=utf-8')).toBe(201);
    expect(await send('application/vnd.job+json')).toBe(201);
    expect(await send('text/plain')).toBe(415);
    expect(await send('application/json; charset=utf-16')).toBe(415);
  });
});

describe('the body limit', () => {
  test('holds for a body that states its length', async () => {
    const { status, body } = await app.call('POST', '/v1/jobs', {
      body: 'x',
      headers: { 'content-length': String(MAX_BODY_BYTES + 1) },
    });
    expect(status).toBe(413);
    expect(body['code']).toBe('body_too_large');
  });

  test('holds for a chunked body of unknown length, which is not read to its end', async () => {
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        sent += 65_536;
        controller.enqueue(new Uint8Array(65_536).fill(0x20));
      },
    });
    const plain = await app.request('POST', '/v1/jobs');
    const request = new Request(plain.url, {
      method: 'POST',
      body: endless,
      headers: { ...Object.fromEntries(plain.headers), 'content-type': 'application/json' },
      duplex: 'half',
    });
    expect((await app.callApp({}, request)).status).toBe(413);
    expect(sent).toBeLessThan(2 * MAX_BODY_BYTES);
  });

  test('lets a body at the limit in', async () => {
    const body = JSON.stringify(JOB).padEnd(MAX_BODY_BYTES, ' ');
    expect((await app.call('POST', '/v1/jobs', { body })).status).toBe(201);
  });
});

describe('reading', () => {
  test.each(['nonsense', '%00', '00000000-0000-4000-8000-000000000000'])(
    'an id that cannot be is 400: %s',
    async (id) => {
      const { status, body } = await app.call('GET', `/v1/jobs/${id}`);
      expect(status).toBe(400);
      expect(pathsOf(body)).toEqual(['id']);
    },
  );

  test('an id that is not there is 404', async () => {
    expect((await app.call('GET', `/v1/jobs/${webIds.uuidv7()}`)).body).toMatchObject({
      status: 404,
      code: 'not_found',
    });
  });

  test('a list goes on where the page before ended', async () => {
    const ids: unknown[] = [];
    for (let at = 0; at < 5; at += 1) {
      const { body } = await app.call('POST', '/v1/jobs', { body: { ...JOB, queue: 'paged' } });
      ids.unshift(body['id']);
    }
    const seen: unknown[] = [];
    let cursor = '';
    for (let page = 0; page < 10; page += 1) {
      const { body } = await app.call('GET', `/v1/jobs?queue=paged&limit=2${cursor}`);
      seen.push(...(body['jobs'] as { id: string }[]).map(({ id }) => id));
      if (body['next_cursor'] === null) break;
      cursor = `&cursor=${body['next_cursor'] as string}`;
    }
    expect(seen).toEqual(ids);
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['limit=ten', 'limit'],
    ['state=lost', 'state'],
    ['cursor=%27', 'cursor'],
    ['queue=', 'queue'],
    ['sort=asc', 'sort'],
    ['queue=a&queue=b', 'queue'],
  ])('a query that breaks a rule is 400: %s', async (query, path) => {
    const { status, body } = await app.call('GET', `/v1/jobs?${query}`);
    expect(status).toBe(400);
    expect(pathsOf(body)).toEqual([path]);
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
