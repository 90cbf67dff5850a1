/** What agents and people say to each other about a job. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Agent } from './support/agent.ts';
import type { HeldJob } from './support/agent.ts';
import { createMcpHarness } from './support/mcp-harness.ts';
import type { McpHarness } from './support/mcp-harness.ts';

let board: McpHarness;
let agent: Agent;
let maria: Agent;
beforeAll(async () => {
  board = await createMcpHarness();
  agent = await board.agent('agent-7', { scope: 'enqueue work read' });
  maria = await board.agent('maria', { scope: 'human read' });
});
afterAll(() => board.close());

async function held(queue: string): Promise<HeldJob> {
  await agent.done('enqueue', { queue, type: 'ship', payload: { order: 7 } });
  const job = await agent.claim({ queues: [queue] });
  if (job === undefined) throw new Error('nothing was claimed');
  return job;
}

/** An agent asks, and a person takes the job. */
async function asked(queue: string): Promise<{ readonly job: HeldJob; readonly hold: HeldJob }> {
  const job = await held(queue);
  const question = 'The order has two addresses: which one counts?';
  expect(await agent.done('ask_a_human', { ...Agent.lease(job), question })).toMatchObject({
    outcome: 'escalated',
  });
  const { job: hold } = await maria.done('claim_escalated', { queue });
  expect(hold).toMatchObject({
    id: job.id,
    reason: 'asked_for_human',
    error: { message: question },
  });
  return { job, hold: hold as HeldJob };
}

describe('S2.4 B.5 an agent asks a person', () => {
  test('the job is theirs then, and comes back with the answer as a note', async () => {
    const { job, hold } = await asked('asked');
    const report = { ...Agent.lease(job), result: 1 };
    expect(await agent.done('complete', report)).toMatchObject({ outcome: 'lease_lost' });
    expect(await agent.claim({ queues: ['asked'] })).toBeUndefined();

    const note = 'The one on the invoice.';
    const sent = { ...Agent.lease(hold), note };
    expect(await maria.done('send_back', sent)).toMatchObject({ outcome: 'pending' });
    expect(await maria.done('send_back', sent)).toMatchObject({ outcome: 'pending' });
    const again = (await agent.claim({ queues: ['asked'] })) as HeldJob;
    expect(again).toMatchObject({ id: job.id, note, attempt: 1 });
    expect(await agent.done('complete', Agent.lease(again))).toMatchObject({
      outcome: 'succeeded',
    });
  });

  test('the person completes it, discards it, or leaves it to another', async () => {
    const { hold } = await asked('by-hand');
    const done = { ...Agent.lease(hold), result: { shipped: true }, note: 'By phone.' };
    expect(await maria.done('complete_escalated', done)).toMatchObject({ outcome: 'succeeded' });
    expect(await maria.done('get_job', { job_id: hold.id })).toMatchObject({
      state: 'succeeded',
      finished_by: 'maria',
      result: { shipped: true },
    });

    const { hold: next } = await asked('given-up');
    const left = Agent.lease(next);
    expect(await maria.done('release_escalated', left)).toMatchObject({ outcome: 'escalated' });
    const { job: again } = await maria.done('claim_escalated', { job_id: next.id });
    const over = { ...Agent.lease(again as HeldJob), reason: 'The customer called it off.' };
    expect(await maria.done('discard_escalated', over)).toMatchObject({ outcome: 'cancelled' });
    expect(await maria.done('send_back', { ...left, note: 'Too late.' })).toMatchObject({
      outcome: 'lease_lost',
    });
  });

  test('the third failure goes to people', async () => {
    const { status } = await board.app.call('PUT', '/v1/queues/thrice', {
      body: { on_exhausted: 'escalate', backoff_base_ms: 0, max_attempts: 10 },
    });
    expect(status).toBe(200);
    let job = await held('thrice');
    const outcomes: unknown[] = [];
    for (;;) {
      const failure = { code: 'no_ink', message: 'The pen is empty.', class: 'transient' };
      const { outcome } = await agent.done('fail', { ...Agent.lease(job), ...failure });
      outcomes.push(outcome);
      if (outcome !== 'pending') break;
      job = (await agent.claim({ queues: ['thrice'], wait_seconds: 20 })) as HeldJob;
    }
    expect(outcomes).toEqual(['pending', 'pending', 'escalated']);
    expect(await agent.claim({ queues: ['thrice'] })).toBeUndefined();
    const { jobs } = await maria.done('list_escalations', { queue: 'thrice' });
    expect(jobs).toMatchObject([{ id: job.id, escalated: { reason: 'failures_used_up' } }]);
  });

  test('only a token with the scope "human" takes it', async () => {
    const job = await held('guarded');
    await agent.done('ask_a_human', { ...Agent.lease(job), question: 'May I?' });
    expect(await agent.call('claim_escalated', { queue: 'guarded' })).toMatchObject({
      isError: true,
      content: { code: 'forbidden', detail: 'The token lacks the scope "human".' },
    });
    const { tools } = await agent.client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain('claim_escalated');
    expect(tools.map(({ name }) => name)).toContain('ask_a_human');
  });

  test('nothing waits for a person: an answer', async () => {
    const { job, advice } = await maria.done('claim_escalated', { queue: 'nothing-here' });
    expect(job).toBeNull();
    expect(advice).toContain('No job waits');
  });
});

test('S2.6 B.5 the history of a job tells who did what', async () => {
  const job = await held('told');
  await agent.done('heartbeat', { ...Agent.lease(job), progress: 'packing' });
  await agent.done('complete', Agent.lease(job));
  const first = await agent.done('get_job_history', { job_id: job.id, limit: 2 });
  const rest = await agent.done('get_job_history', { job_id: job.id, after: first['next_after'] });
  const events = [...(first['events'] as object[]), ...(rest['events'] as object[])];
  expect(events).toMatchObject([
    { type: 'created', actor: 'agent-7' },
    { type: 'claimed', actor: 'agent-7', fencing_token: job.fencing_token },
    { type: 'progressed', actor: 'agent-7', details: { progress: 'packing' } },
    { type: 'completed', actor: 'agent-7' },
  ]);
  const uri = `leasehold://jobs/${job.id}/history`;
  const { contents } = await agent.client.readResource({ uri });
  const [only] = contents;
  expect(JSON.parse((only as { readonly text: string }).text)).toEqual({
    events,
    next_after: null,
  });
});
