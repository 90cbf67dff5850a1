/** Agents on the board, with the client of the official SDK over real sockets. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

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

/** Adds a job to a queue of its own and claims it. */
async function held(queue: string, payload: unknown = { about: 'otters' }): Promise<HeldJob> {
  await agent.done('enqueue', { queue, type: 'write', payload });
  const job = await agent.claim({ queues: [queue] });
  if (job === undefined) throw new Error('nothing was claimed');
  return job;
}

describe('B.5 an agent works by the Model Context Protocol', () => {
  test('it adds a job, claims it, reports progress and completes it', async () => {
    const added = await agent.done('enqueue', {
      queue: 'essays',
      type: 'write',
      payload: { about: 'otters', __proto__: { kept: true } },
    });
    const job = await agent.claim({ queues: ['essays'] });
    expect(job).toMatchObject({ id: added['id'], attempt: 1, payload: { about: 'otters' } });
    const lease = Agent.lease(job as HeldJob);

    const beat = await agent.done('heartbeat', { ...lease, progress: '1 of 2 pages' });
    expect(beat).toMatchObject({ outcome: 'held', cancel_requested: false });
    expect(await agent.done('get_job', { job_id: lease.job_id })).toMatchObject({
      state: 'running',
      lease: { owner: 'agent-7', progress: '1 of 2 pages' },
    });

    expect(await agent.done('complete', { ...lease, result: { pages: 2 } })).toEqual({
      outcome: 'succeeded',
      more_due: false,
    });
    expect(await agent.done('get_job', { job_id: lease.job_id })).toMatchObject({
      state: 'succeeded',
      finished_by: 'agent-7',
      result: { pages: 2 },
    });
  });

  test('a heartbeat renews the lease when progress moved, and not when it did not', async () => {
    const lease = Agent.lease(await held('renewed'));
    const at = async (progress: string): Promise<unknown> =>
      (await agent.done('heartbeat', { ...lease, progress }))['lease_expires_at'];
    const first = await at('one');
    const second = await at('two');
    expect(second).not.toBe(first);
    expect(await at('two')).toBe(second);
  });

  test('an empty queue is an answer', async () => {
    const { job, advice } = await agent.done('claim', { queues: ['empty'] });
    expect(job).toBeNull();
    expect(advice).toContain('Nothing is due');
  });

  test('it fails, and is told when the job is tried again', async () => {
    const lease = Agent.lease(await held('failing'));
    const end = await agent.done('fail', {
      ...lease,
      code: 'no_ink',
      message: 'The pen is empty.',
      class: 'transient',
    });
    expect(end).toMatchObject({ outcome: 'pending' });
    const { attempts } = await agent.done('get_job', { job_id: lease.job_id });
    expect(attempts).toMatchObject([
      {
        owner: 'agent-7',
        outcome: 'failed',
        error: { code: 'no_ink', message: 'The pen is empty.' },
      },
    ]);
  });

  test('it gives a job back, and puts one off, without spending a try', async () => {
    const job = await held('given-back');
    expect(
      await agent.done('release', { ...Agent.lease(job), reason: 'not my field' }),
    ).toMatchObject({ outcome: 'pending' });
    const again = await agent.claim({ queues: ['given-back'] });
    expect(again).toMatchObject({ id: job.id, attempt: 1 });
    const later = { ...Agent.lease(again as HeldJob), delay_seconds: 3600 };
    expect(await agent.done('snooze', later)).toMatchObject({ outcome: 'pending' });
    expect(await agent.claim({ queues: ['given-back'] })).toBeUndefined();
  });

  test('a lost lease is an outcome that says what to do, and no error', async () => {
    const stale = Agent.lease(await held('lost'));
    await agent.done('release', stale);
    await agent.claim({ queues: ['lost'] });
    const calls: Readonly<Record<string, object>> = {
      heartbeat: { progress: 'still at it' },
      complete: { result: 1 },
      fail: { code: 'late', message: 'Too late.' },
      snooze: { delay_seconds: 5 },
    };
    for (const [name, more] of Object.entries(calls)) {
      const { outcome, advice } = await agent.done(name, { ...stale, ...more });
      expect({ name, outcome }).toEqual({ name, outcome: 'lease_lost' });
      expect(advice).toContain('Stop working on it');
    }
  });

  test('it hears that its job was called off', async () => {
    const job = await held('called-off');
    const { status } = await board.app.call('POST', `/v1/jobs/${job.id}/cancel`);
    expect(status).toBe(202);
    const beat = await agent.done('heartbeat', { ...Agent.lease(job), progress: 'on it' });
    expect(beat).toMatchObject({ cancel_requested: true });
    expect(beat['advice']).toContain('release');
    expect(await agent.done('release', Agent.lease(job))).toMatchObject({ outcome: 'cancelled' });
  });

  test('with its report it takes the next job', async () => {
    const first = await held('in-a-row', 1);
    await agent.done('enqueue', { queue: 'in-a-row', type: 'write', payload: 2 });
    const end = await agent.done('complete', {
      ...Agent.lease(first),
      claim_next: { queue: 'in-a-row' },
    });
    expect(end).toMatchObject({ outcome: 'succeeded', next: { payload: 2, attempt: 1 } });
  });

  test('calls whose answers were lost are repeated', async () => {
    const add = { queue: 'repeated', type: 'write', payload: 1, idempotency_key: 'note:1' };
    const { id } = await agent.done('enqueue', add);
    expect((await agent.done('enqueue', add))['id']).toBe(id);
    const claim = { queues: ['repeated'], claim_id: '0b0f9d3a-6a3f-4f0e-9d51-0a2b3c4d5e6f' };
    const job = await agent.claim(claim);
    expect(job).toMatchObject({ id });
    expect(await agent.claim(claim)).toMatchObject({ id, fencing_token: job?.fencing_token });
    const report = { ...Agent.lease(job as HeldJob), result: 'done' };
    const end = await agent.done('complete', report);
    expect(await agent.done('complete', report)).toEqual(end);
  });

  test('who waits gets a job that comes meanwhile', async () => {
    const waiting = agent.claim({ queues: ['awaited'], wait_seconds: 20 });
    await agent.done('enqueue', { queue: 'awaited', type: 'write', payload: 'at last' });
    expect(await waiting).toMatchObject({ payload: 'at last' });
  });

  test('who waits and goes away takes no job', async () => {
    const gone = new AbortController();
    const sleeping = Promise.withResolvers<void>();
    // Time stands still: only the caller who goes away can end the pause.
    const sleep = (_ms: number, signal?: AbortSignal): Promise<void> =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
        sleeping.resolve();
      });
    const { app } = board;
    const params = { name: 'claim', arguments: { queues: ['left'], wait_seconds: 20 } };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    const request = await app.request('POST', '/mcp', { body: message });
    const answer = app.callApp(
      { deps: app.deps({ timer: { sleep } }) },
      new Request(request, { signal: gone.signal }),
    );
    await sleeping.promise;
    gone.abort();
    expect(await answer).toMatchObject({ body: { result: { structuredContent: { job: null } } } });
  });

  test('jobs are listed by state, by pages', async () => {
    for (const payload of [1, 2, 3]) {
      await agent.done('enqueue', { queue: 'listed', type: 'write', payload });
    }
    await agent.claim({ queues: ['listed'] });
    const page = await agent.done('list_jobs', { queue: 'listed', state: 'pending', limit: 1 });
    expect(page['jobs']).toMatchObject([{ state: 'pending' }]);
    const next = await agent.done('list_jobs', {
      queue: 'listed',
      state: 'pending',
      cursor: page['next_cursor'],
    });
    expect(next['jobs']).toHaveLength(1);
    expect(next['next_cursor']).toBeNull();
  });
});
