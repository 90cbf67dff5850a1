import { createServer } from 'node:http';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { HANDLERS } from '../../functions/handlers/index.ts';
import { createAppHarness } from './support/app-harness.ts';
import type { Answer, AppHarness } from './support/app-harness.ts';

interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let app: AppHarness;
let receiver: Server;
const received: Received[] = [];

const HEADERS: Readonly<Record<number, Record<string, string>>> = {
  302: { location: '/200' },
  503: { 'retry-after': '1000' },
};

/** Answers with the status that its path names; `/endless` never stops talking. */
beforeAll(async () => {
  app = await createAppHarness({ handlers: HANDLERS });
  receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      const { method, url, headers } = request;
      received.push({ method, url, headers, body });
      if (url === '/endless') {
        const more = (): void => {
          while (response.write('x'.repeat(10_000)));
        };
        response.on('drain', more);
        more();
        return;
      }
      if (url === '/silent') return;
      if (url === '/breaks') {
        response.writeHead(200, { 'content-length': '100' });
        response.write('only the sta', () => response.destroy());
        return;
      }
      const status = Number(url?.slice(1));
      response.writeHead(status, HEADERS[status] ?? {});
      response.end(`answer ${status}\u0000`);
    });
  });
  await new Promise<void>((resolve) => {
    receiver.listen(0, '127.0.0.1', resolve);
  });
});
afterAll(async () => {
  receiver.closeAllConnections();
  receiver.close();
  await app.close();
});
beforeEach(async () => {
  received.length = 0;
  await app.database.pool.query('delete from leasehold.job_state');
});

async function run(
  queue: string,
  type: string,
  payload: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ work: Answer['body']; job: Answer['body'] }> {
  const enqueued = await app.call('POST', '/v1/jobs', { body: { queue, type, payload, headers } });
  expect(enqueued.status).toBe(201);
  const work = await app.call('POST', '/v1/work', { body: { queue, depth: 0 } });
  const job = await app.call('GET', `/v1/jobs/${enqueued.body['id'] as string}`);
  return { work: work.body, job: job.body };
}

function urlOf(path: string): string {
  return `http://127.0.0.1:${(receiver.address() as AddressInfo).port}${path}`;
}

describe('http.request', () => {
  test('sends the body with the idempotency key and the trace, and keeps the answer', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const body = JSON.parse('{"order":7,"__proto__":{"kept":true}}') as unknown;
    const { work, job } = await run(
      'http',
      'http.request',
      {
        url: urlOf('/200'),
        body,
        headers: {
          'X-Team': 'a',
          Host: 'forged',
          'Content-Length': '3',
          'Idempotency-Key': 'x',
        },
      },
      { traceparent },
    );
    expect(work).toMatchObject({ outcome: 'succeeded' });
    expect(job['result']).toEqual({ status: 200, body: 'answer 200' });
    expect(received).toMatchObject([
      {
        method: 'POST',
        headers: {
          'x-team': 'a',
          'idempotency-key': job['id'],
          traceparent,
          'content-type': 'application/json',
        },
        body: JSON.stringify(body),
      },
    ]);
    expect(received[0]?.headers.host).toMatch(/^127\.0\.0\.1:/);
  });

  test.each([
    [408, 'retrying', 'http_408'],
    [425, 'retrying', 'http_425'],
    [429, 'retrying', 'http_429'],
    [500, 'retrying', 'http_500'],
    [503, 'retrying', 'http_503'],
    [400, 'dead', 'http_400'],
    [404, 'dead', 'http_404'],
    [410, 'dead', 'http_410'],
    [302, 'dead', 'http_redirect'],
  ])('an answer of %i is %s', async (status, outcome, code) => {
    const { work } = await run('http', 'http.request', { url: urlOf(`/${status}`), body: {} });
    expect(work).toMatchObject({ outcome, code });
    expect(received).toHaveLength(1);
  });

  test('a connection that is refused is tried again', async () => {
    const { work } = await run('http', 'http.request', { url: 'http://127.0.0.1:1/', body: {} });
    expect(work).toMatchObject({ outcome: 'retrying', code: 'http_unreachable' });
  });

  test('case J3 Retry-After is honoured', async () => {
    const { job } = await run('http', 'http.request', { url: urlOf('/503'), body: {} });
    const [attempt] = job['attempts'] as { ended_at: string }[];
    const waits = Date.parse(job['due_at'] as string) - Date.parse(attempt?.ended_at ?? '');
    expect(Math.round(waits / 1000)).toBe(1000);
  });

  test('a success whose body breaks off is a success, and is not asked for twice', async () => {
    const { work, job } = await run('http', 'http.request', { url: urlOf('/breaks'), body: {} });
    expect(work).toMatchObject({ outcome: 'succeeded' });
    expect(job['result']).toMatchObject({ status: 200 });
    expect(received).toHaveLength(1);
  });

  test('an endless answer is cut', async () => {
    const { work, job } = await run('http', 'http.request', { url: urlOf('/endless'), body: {} });
    expect(work).toMatchObject({ outcome: 'succeeded' });
    expect((job['result'] as { body: string }).body.length).toBeLessThanOrEqual(4000);
  });

  test('a receiver that says nothing is given up when the invocation ends', async () => {
    await app.call('POST', '/v1/jobs', {
      body: { queue: 'http', type: 'http.request', payload: { url: urlOf('/silent') } },
    });
    const deps = app.deps({ invocationMs: 3_000 });
    const request = await app.request('POST', '/v1/work', { body: { queue: 'http', depth: 0 } });
    expect((await app.callApp({ deps }, request)).body).toMatchObject({
      outcome: 'retrying',
      code: 'run_deadline_exceeded',
    });
  });

  test.each([
    { url: 'ftp://x/' },
    { url: 'javascript:1' },
    { url: '' },
    {},
    { url: 'https://x/', method: 'TRACE' },
  ])('a payload that cannot be sent is dead at once: %j', async (payload) => {
    const { work } = await run('http', 'http.request', payload);
    expect(work).toMatchObject({ outcome: 'dead', code: 'invalid_payload' });
  });
});

describe('report.csv', () => {
  test('renders rows of any shape', async () => {
    const rows = [
      { id: 1, user: { login: 'ada' }, note: 'a "quoted", note' },
      { id: 2, user: { login: '=HYPERLINK("http://evil")' }, labels: ['x'] },
    ];
    const { job } = await run('reports', 'report.csv', { title: 'Two', rows });
    expect(job['result']).toEqual({
      title: 'Two',
      rows: 2,
      columns: 4,
      csv:
        'id,note,user.login,labels\r\n' +
        '1,"a ""quoted"", note",ada,\r\n' +
        `2,,"'=HYPERLINK(""http://evil"")","[""x""]"\r\n`,
    });
  });

  test('keeps to the columns that are asked for', async () => {
    const { job } = await run('reports', 'report.csv', {
      rows: [{ a: 1, b: { c: 2 } }],
      columns: ['b.c', 'missing'],
    });
    expect((job['result'] as { csv: string }).csv).toBe('b.c,missing\r\n2,\r\n');
  });

  test('a report that is too large to keep is final and says what to do', async () => {
    const rows = Array.from({ length: 1500 }, (_, at) => ({ at, text: 'x'.repeat(100) }));
    const { work, job } = await run('reports', 'report.csv', { rows });
    expect(work).toMatchObject({ outcome: 'dead', code: 'report_too_large' });
    expect(JSON.stringify(job['dead'])).toContain('fewer rows');
  });

  test.each([{ rows: [] }, { rows: [1] }, { rows: [[]] }, {}, { rows: [{}], extra: 1 }])(
    'a payload that is no table is dead at once: %j',
    async (payload) => {
      const { work } = await run('reports', 'report.csv', payload);
      expect(work).toMatchObject({ outcome: 'dead', code: 'invalid_payload' });
    },
  );
});
