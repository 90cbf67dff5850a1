import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Agent } from './support/agent.ts';
import type { HeldJob } from './support/agent.ts';
import { createMcpHarness } from './support/mcp-harness.ts';
import type { McpHarness } from './support/mcp-harness.ts';

let board: McpHarness;
let producer: Agent;
beforeAll(async () => {
  board = await createMcpHarness();
  producer = await board.agent('shop');
});
afterAll(() => board.close());

async function add(queue: string): Promise<string> {
  const { id } = await producer.done('enqueue', { queue, type: 't', payload: null });
  return id as string;
}

async function toolsOf(agent: Agent): Promise<string[]> {
  const { tools } = await agent.client.listTools();
  return tools.map(({ name }) => name);
}

describe('B.5 S2.8 an agent may do what its token allows', () => {
  test('it is shown the tools of its scopes', async () => {
    const worker = await board.agent('worker', { scope: 'work' });
    const reader = await board.agent('reader', { scope: 'read' });
    const nobody = await board.agent('nobody', { scope: 'other' });
    expect(await toolsOf(worker)).toEqual(
      expect.arrayContaining(['claim', 'heartbeat', 'complete', 'fail', 'release']),
    );
    expect(await toolsOf(worker)).not.toContain('list_jobs');
    expect(await toolsOf(reader)).toEqual(
      expect.arrayContaining(['list_queues', 'list_jobs', 'get_job']),
    );
    expect(await toolsOf(reader)).not.toContain('claim');
    expect(await toolsOf(nobody)).toEqual([]);
  });

  test('a tool that it is not shown is refused all the same, and nothing is done', async () => {
    await add('guarded');
    const reader = await board.agent('reader', { scope: 'read' });
    const { isError, content } = await reader.call('claim', { queues: ['guarded'] });
    expect(isError).toBe(true);
    expect(content).toMatchObject({
      code: 'forbidden',
      detail: 'The token lacks the scope "work".',
    });
    const worker = await board.agent('worker', { scope: 'work' });
    for (const [name, args] of [
      ['enqueue', { queue: 'guarded', type: 't', payload: 1 }],
      ['list_queues', {}],
      ['list_jobs', {}],
    ] as const) {
      expect(await worker.call(name, args)).toMatchObject({
        isError: true,
        content: { code: 'forbidden' },
      });
    }
    expect(await worker.claim({ queues: ['guarded'] })).toMatchObject({ attempt: 1 });
  });

  test('a token for certain queues claims from these, and sees no others', async () => {
    const hidden = await add('hidden');
    await add('shown');
    const limited = await board.agent('limited', { queues: ['shown'] });
    expect(await limited.call('claim', { queues: ['hidden'] })).toMatchObject({
      isError: true,
      content: { code: 'forbidden' },
    });
    expect(await limited.call('get_job', { job_id: hidden })).toMatchObject({
      isError: true,
      content: { code: 'not_found' },
    });
    const { queues } = await limited.done('list_queues');
    expect(queues).toMatchObject([{ name: 'shown' }]);
    // It need not say which.
    expect(await limited.claim({})).toMatchObject({ queue: 'shown' });
    expect((await limited.done('list_jobs'))['jobs']).toMatchObject([{ queue: 'shown' }]);
  });

  test('a token for all queues has to say which', async () => {
    expect(await producer.call('claim', {})).toMatchObject({
      isError: true,
      content: { code: 'invalid_request', problems: [{ path: 'queues' }] },
    });
  });

  test('the actor is who the token says, and no other agent can report for it', async () => {
    await add('owned');
    const owner = await board.agent('owner');
    const job = (await owner.claim({ queues: ['owned'] })) as HeldJob;
    const thief = await board.agent('thief');
    expect(await thief.done('complete', Agent.lease(job))).toMatchObject({ outcome: 'lease_lost' });
    expect(await owner.done('complete', Agent.lease(job))).toMatchObject({ outcome: 'succeeded' });
    const { finished_by: by } = await owner.done('get_job', { job_id: job.id });
    expect(by).toBe('owner');
  });

  test('without a token, or with one that has ended, nothing is answered', async () => {
    const before = board.app.http.endpoint.requests;
    for (const headers of [{}, { authorization: 'Bearer nonsense' }]) {
      const answer = await board.app.call('POST', '/mcp', {
        scope: null,
        headers,
        body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      });
      expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="leasehold"/);
    }
    expect(board.app.http.endpoint.requests).toBe(before);
  });

  test('the log names the call and the tool under one request id', async () => {
    const { lines } = board.app.log;
    lines.length = 0;
    await producer.done('list_queues');
    const served = lines.filter(({ event }) => event === 'request_served');
    expect(served.map(({ fields }) => fields['route'])).toEqual(['/v1/queues', '/mcp']);
    expect(new Set(served.map(({ fields }) => fields['request_id'])).size).toBe(1);
  });
});

test('S2.8 a page of another site cannot call it', async () => {
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const from = (origin: string) => board.app.call('POST', '/mcp', { body, headers: { origin } });
  expect(await from('https://elsewhere.test')).toMatchObject({
    status: 403,
    body: { code: 'forbidden' },
  });
  expect(await from('null')).toMatchObject({ status: 403 });
  expect(await from('https://leasehold.test')).toMatchObject({ status: 200 });
});

test('B.5 a limit of the deployment is told with the time to wait', async () => {
  const limited = board.app.deps({
    rateLimit: {
      check: async ({ route }) =>
        route === '/mcp' ? { outcome: 'allow' } : { outcome: 'deny', retryAfterSeconds: 7 },
    },
  });
  const request = await board.app.request('POST', '/mcp', {
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'list_queues', arguments: {} },
    },
  });
  const { body } = await board.app.callApp({ deps: limited }, request);
  expect(body).toMatchObject({
    result: { isError: true, structuredContent: { code: 'rate_limited', retry_after_seconds: 7 } },
  });
});
