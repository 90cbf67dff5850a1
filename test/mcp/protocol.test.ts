import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import type { Answer } from '../routes/support/app-harness.ts';
import { Agent } from './support/agent.ts';
import type { HeldJob } from './support/agent.ts';
import { createMcpHarness } from './support/mcp-harness.ts';
import type { McpHarness } from './support/mcp-harness.ts';

let board: McpHarness;
let agent: Agent;
beforeAll(async () => {
  board = await createMcpHarness();
  agent = await board.agent('agent-7');
});
afterAll(() => board.close());

const post = (body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  board.app.call('POST', '/mcp', { body, headers });
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

/** A request as the protocol is since 2026: each says by itself who sends it, and in which version. */
function modern(method: string, params: object, version = '2026-07-28'): Promise<Answer> {
  const about = 'io.modelcontextprotocol';
  const meta = {
    [`${about}/protocolVersion`]: version,
    [`${about}/clientInfo`]: { name: 'by-hand', version: '1' },
    [`${about}/clientCapabilities`]: {},
  };
  return post(
    { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } },
    { 'mcp-protocol-version': version, 'mcp-method': method },
  );
}

describe('B.5 /mcp speaks streamable HTTP, without sessions and streams', () => {
  test.each(['2026-07-28', 'legacy'] as const)('an agent of %s connects and works', async (era) => {
    const one = await board.agent('agent-8', { era });
    expect(one.client.getServerVersion()).toMatchObject({ name: 'leasehold' });
    expect(Object.keys(one.client.getServerCapabilities() ?? {}).toSorted()).toEqual([
      'prompts',
      'resources',
      'tools',
    ]);
    expect(one.client.getInstructions()).toContain('lease_lost');
    const queues = [`era-${era}`];
    await one.done('enqueue', { queue: queues[0], type: 't', payload: null });
    const job = (await one.claim({ queues })) as HeldJob;
    expect(await one.done('complete', Agent.lease(job))).toMatchObject({ outcome: 'succeeded' });
    expect(await one.done('complete', { ...Agent.lease(job), fencing_token: '9' })).toMatchObject({
      outcome: 'lease_lost',
    });
  });

  test.each(['2026-07-28', 'legacy'] as const)(
    'a message of %s writes to the log and to nothing else',
    async (era) => {
      const warned = vi.spyOn(console, 'warn');
      const one = await board.agent('agent-8', { era });
      await one.done('list_queues');
      expect(warned).not.toHaveBeenCalled();
    },
  );

  test('an older client asks for a stream, hears that there is none, and goes on', async () => {
    board.requests.length = 0;
    const one = await board.agent('agent-8', { era: 'legacy' });
    await expect.poll(() => board.requests).toContain('GET /mcp');
    expect(await one.done('list_queues', { limit: 1 })).toHaveProperty('queues');
  });

  test('a client that would follow changes is told that there are no streams', async () => {
    const { status, headers, body } = await modern('subscriptions/listen', {
      notifications: { toolsListChanged: true },
    });
    expect({ status, type: headers.get('content-type') }).toEqual({
      status: 200,
      type: 'application/json',
    });
    expect(body).toMatchObject({ error: { code: -32_603 } });
  });

  test('a request is answered with JSON and no session', async () => {
    const { status, headers, body } = await post(LIST);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.get('mcp-session-id')).toBeNull();
    expect(body).toMatchObject({ jsonrpc: '2.0', id: 1 });
    expect(body).toHaveProperty('result.tools.0.name', 'claim');
  });

  test('a notification is taken without an answer', async () => {
    const { status, body } = await post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    expect({ status, body }).toEqual({ status: 202, body: {} });
  });

  test.each(['GET', 'DELETE'])('%s is not for this path', async (method) => {
    const { status, headers } = await board.app.call(method, '/mcp');
    expect({ status, allow: headers.get('allow') }).toEqual({ status: 405, allow: 'POST' });
  });

  test.each([
    ['no message', { hello: 'there' }],
    ['several at once', [LIST, { ...LIST, id: 2 }]],
    [
      'a request that calls itself off',
      [LIST, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }],
    ],
    ['null', null],
    ['no JSON', '{"jsonrpc":'],
    ['JSON that says a thing twice', '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}'],
  ])('%s is refused', async (_name, body) => {
    const { status, headers, body: problem } = await post(body);
    expect(status).toBe(400);
    expect(headers.get('content-type')).toBe('application/problem+json');
    expect(problem['code']).toMatch(/^invalid_(?:json|request)$/);
  });

  test('a version of the protocol that nobody knows is refused, with those that are known', async () => {
    const { status, body } = await post(LIST, { 'mcp-protocol-version': '1999-01-01' });
    expect(status).toBe(400);
    expect(JSON.stringify(body['error'])).toContain('2025-11-25');
    const later = await modern('tools/list', {}, '2099-01-01');
    expect(later).toMatchObject({
      status: 400,
      body: { error: { code: -32_022, data: { supported: ['2026-07-28'] } } },
    });
  });

  test('an unknown method, tool, prompt or resource is an error of the protocol', async () => {
    expect((await post({ ...LIST, method: 'board/paint' })).body).toMatchObject({
      error: { code: -32_601 },
    });
    await expect(agent.client.callTool({ name: 'paint' })).rejects.toMatchObject({ code: -32_602 });
    await expect(agent.client.getPrompt({ name: 'paint' })).rejects.toMatchObject({
      code: -32_602,
    });
    for (const uri of ['leasehold://paint', 'leasehold://jobs/a/b', 'https://example.org/']) {
      await expect(agent.client.readResource({ uri })).rejects.toMatchObject({ code: -32_602 });
    }
  });

  test('arguments that break a rule are named, and nothing is done', async () => {
    const before = board.app.http.endpoint.requests;
    const { isError, content } = await agent.call('complete', {
      job_id: 'nonsense',
      fencing_token: 7,
      result: 1,
      mood: 'good',
    });
    expect(isError).toBe(true);
    expect(content).toMatchObject({
      code: 'invalid_request',
      remedy: 'Read the rule in "problems".',
    });
    expect((content['problems'] as { path: string }[]).map(({ path }) => path).toSorted()).toEqual([
      'fencing_token',
      'job_id',
      'mood',
    ]);
    expect(board.app.http.endpoint.requests).toBe(before);
  });

  test('a rule that the database holds is told in the same way', async () => {
    const { isError, content } = await agent.call('enqueue', {
      queue: 'q',
      type: 't',
      payload: 1,
      delay_seconds: 1,
      due_at: '2030-01-01T00:00:00Z',
    });
    expect(isError).toBe(true);
    expect(content).toMatchObject({ code: 'invalid_request', problems: [{ path: 'due_at' }] });
  });
});

describe('B.5 resources and prompts', () => {
  test('the queues and each job can be read', async () => {
    const { id } = await agent.done('enqueue', { queue: 'read', type: 't', payload: '<b>' });
    const { resources } = await agent.client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(['leasehold://queues']);
    const { resourceTemplates } = await agent.client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain(
      'leasehold://jobs/{job_id}',
    );
    const read = async (uri: string): Promise<unknown> => {
      const { contents } = await agent.client.readResource({ uri });
      const [only] = contents;
      expect(only).toMatchObject({ uri, mimeType: 'application/json' });
      return JSON.parse((only as { readonly text: string }).text) as unknown;
    };
    expect(await read(`leasehold://jobs/${String(id)}`)).toMatchObject({ id, payload: '<b>' });
    const { queues } = (await read('leasehold://queues')) as { queues: { name: string }[] };
    expect(queues.map(({ name }) => name)).toContain('read');
  });

  test('a job that is not there is not found, and one of another queue neither', async () => {
    const { id } = await agent.done('enqueue', { queue: 'secret', type: 't', payload: 1 });
    const limited = await board.agent('limited', { queues: ['read'] });
    for (const job of [String(id), '01900000-0000-7000-8000-000000000001']) {
      await expect(
        limited.client.readResource({ uri: `leasehold://jobs/${job}` }),
      ).rejects.toMatchObject({ code: -32_602 });
    }
    const worker = await board.agent('worker', { scope: 'work' });
    await expect(worker.client.readResource({ uri: 'leasehold://queues' })).rejects.toMatchObject({
      code: -32_600,
      data: { code: 'forbidden' },
    });
  });

  test('a person starts an agent on a queue', async () => {
    const { prompts } = await agent.client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(['work_on_queue']);
    const { messages } = await agent.client.getPrompt({
      name: 'work_on_queue',
      arguments: { queue: 'essays "of" 2030', how: 'Be brief.' },
    });
    const [text = ''] = messages.map(({ content }) =>
      content.type === 'text' ? content.text : '',
    );
    expect(text).toContain(String.raw`"essays \"of\" 2030"`);
    expect(text).toContain('Be brief.');
    await expect(agent.client.getPrompt({ name: 'work_on_queue' })).rejects.toMatchObject({
      code: -32_602,
    });
  });
});
