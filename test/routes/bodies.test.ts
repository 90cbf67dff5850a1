import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { MAX_BODY_BYTES, MAX_PAYLOAD_BYTES } from '../../shared/limits.ts';
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

describe('case A5 an instant that RFC 3339 allows is never more than Postgres can read', () => {
  test.each([
    ['0000-01-01T00:00:00Z', 201],
    ['0001-01-01T00:00:00+23:59', 201],
    [`2020-01-01T00:00:00.${'1'.repeat(5000)}Z`, 201],
    ['2020-01-01T00:00:00-23:59', 201],
    ['9999-12-31T23:59:59-23:59', 400],
  ])('%s', async (dueAt, expected) => {
    const answer = await app.call('POST', '/v1/jobs', { body: { ...JOB, due_at: dueAt } });
    expect(answer.status).toBe(expected);
  });
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

test('a payload at the limit is stored whatever it is made of', async () => {
  // Two characters a number in text, twelve bytes in jsonb: the shape that grows most.
  const zeros = Array.from({ length: MAX_PAYLOAD_BYTES / 2 - 1 }, () => 0);
  const { status, body } = await app.call('POST', '/v1/jobs', { body: { ...JOB, payload: zeros } });
  expect(status).toBe(201);
  expect((await app.call('GET', `/v1/jobs/${String(body['id'])}`)).body['payload']).toEqual(zeros);
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

test('case R19 a body that breaks off is 400 and stores nothing', async () => {
  const before = await countJobs();
  const broken = new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode('{"queue":"q",'));
      controller.error(new TypeError('The sender hung up.'));
    },
  });
  const { status, body } = await app.callApp({}, await streamed(broken));
  expect(status).toBe(400);
  expect(body).toMatchObject({ code: 'invalid_json', problems: [{ path: '$' }] });
  expect(await countJobs()).toBe(before);
});

async function streamed(body: ReadableStream<Uint8Array>): Promise<Request> {
  const plain = await app.request('POST', '/v1/jobs');
  return new Request(plain.url, {
    method: 'POST',
    body,
    headers: { ...Object.fromEntries(plain.headers), 'content-type': 'application/json' },
    duplex: 'half',
  });
}

test('a compressed body is 415, one that says it is not is taken', async () => {
  const send = async (encoding: string): Promise<number> =>
    (await app.call('POST', '/v1/jobs', { body: JOB, headers: { 'content-encoding': encoding } }))
      .status;
  expect(await send('gzip')).toBe(415);
  expect(await send('identity')).toBe(201);
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
    expect((await app.callApp({}, await streamed(endless))).status).toBe(413);
    expect(sent).toBeLessThan(2 * MAX_BODY_BYTES);
  });

  test('lets a body at the limit in', async () => {
    const body = JSON.stringify(JOB).padEnd(MAX_BODY_BYTES, ' ');
    expect((await app.call('POST', '/v1/jobs', { body })).status).toBe(201);
  });
});
