import { afterAll, beforeAll, expect, test } from 'vitest';

import { Agent } from './support/agent.ts';
import { createMcpHarness } from './support/mcp-server.ts';
import type { McpHarness } from './support/mcp-server.ts';

const JOBS = 24;

let board: McpHarness;
beforeAll(async () => {
  board = await createMcpHarness();
});
afterAll(() => board.close());

test('S2.1 B.5 two agents and a person take every job once, from one board through one claim', async () => {
  const { app } = board;
  const jobs = Array.from({ length: JOBS }, (_, payload) => ({
    queue: 'raced',
    type: 't',
    payload,
  }));
  await app.call('POST', '/v1/jobs/batch', { body: { jobs } });
  const agents = await Promise.all(['agent-1', 'agent-2'].map((name) => board.agent(name)));
  const taken: { readonly by: string; readonly id: string; readonly token: string }[] = [];

  const byAgent = agents.map(async (agent, index) => {
    for (;;) {
      const job = await agent.claim({ queues: ['raced'] });
      if (job === undefined) return;
      taken.push({ by: `agent-${index + 1}`, id: job.id, token: job.fencing_token });
      const end = await agent.done('complete', Agent.lease(job));
      expect(end['outcome']).toBe('succeeded');
    }
  });
  const byPerson = (async () => {
    for (;;) {
      const { body } = await app.call('POST', '/v1/queues/raced/claims', { actor: 'ada' });
      const [job] = body['jobs'] as readonly { id: string; fencing_token: string }[];
      if (job === undefined) return;
      taken.push({ by: 'ada', id: job.id, token: job.fencing_token });
      const { status } = await app.call('POST', `/v1/leases/${job.id}/complete`, {
        actor: 'ada',
        body: { fencing_token: job.fencing_token },
      });
      expect(status).toBe(200);
    }
  })();
  await Promise.all([...byAgent, byPerson]);

  expect(taken).toHaveLength(JOBS);
  expect(new Set(taken.map(({ id }) => id)).size).toBe(JOBS);
  expect(new Set(taken.map(({ by }) => by))).toEqual(new Set(['agent-1', 'agent-2', 'ada']));
  const { rows } = await app.database.pool.query<{ actor: string; jobs: number }>(
    `select actor, count(distinct job_id)::int as jobs from leasehold.job_events
     where type = 'claimed' group by actor`,
  );
  for (const { actor, jobs: claimed } of rows) {
    expect(claimed).toBe(taken.filter(({ by }) => by === actor).length);
  }
});

test('S2.1 two claims at one moment get two jobs', async () => {
  const [one, other] = await Promise.all([board.agent('agent-1'), board.agent('agent-2')]);
  for (let round = 0; round < 10; round += 1) {
    const queue = `pair-${round}`;
    for (const payload of [1, 2]) await one.done('enqueue', { queue, type: 't', payload });
    const both = await Promise.all([
      one.claim({ queues: [queue] }),
      other.claim({ queues: [queue] }),
    ]);
    expect(new Set(both.map((job) => job?.payload))).toEqual(new Set([1, 2]));
  }
});
