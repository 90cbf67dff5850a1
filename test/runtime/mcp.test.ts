/** Agents and the deployed bundle, in workerd, where no code may be made from text. */
import { afterAll, beforeAll, expect, test } from 'vitest';

import { Agent } from '../mcp/support/agent.ts';
import type { HeldJob } from '../mcp/support/agent.ts';
import { connectAgent } from '../mcp/support/connect-agent.ts';
import { createDeployment } from '../support/deployment.ts';
import type { DeployedWorker, Deployment } from '../support/deployment.ts';

const JOBS = 12;

let deployment: Deployment;
let worker: DeployedWorker;
const agents: Agent[] = [];
beforeAll(async () => {
  deployment = await createDeployment();
  worker = await deployment.start();
});
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.close()));
  await deployment.close();
});

async function agentNamed(subject: string): Promise<Agent> {
  const scopes = ['enqueue', 'work', 'read'] as const;
  const token = await deployment.token({ subject, scopes });
  const agent = await connectAgent(`${worker.url}/mcp`, token);
  agents.push(agent);
  return agent;
}

test('S2.1 B.5 C.1 two agents share the jobs of a queue in workerd', async () => {
  const [one, other] = await Promise.all([agentNamed('agent-1'), agentNamed('agent-2')]);
  const { tools } = await one.client.listTools();
  expect(tools.map(({ name }) => name)).toContain('claim');
  for (let payload = 0; payload < JOBS; payload += 1) {
    await one.done('enqueue', { queue: 'raced', type: 't', payload });
  }
  const queues = ['raced'];
  const first = await Promise.all([one.claim({ queues }), other.claim({ queues })]);
  const taken: string[] = [];
  await Promise.all(
    [one, other].map(async (agent, index) => {
      for (let job = first[index]; job !== undefined; job = await agent.claim({ queues })) {
        taken.push(job.id);
        await agent.done('heartbeat', { ...Agent.lease(job), progress: 'half way' });
        const end = await agent.done('complete', { ...Agent.lease(job), result: index });
        expect(end['outcome']).toBe('succeeded');
      }
    }),
  );
  expect(taken).toHaveLength(JOBS);
  expect(new Set(taken).size).toBe(JOBS);
});

test('B.5 an agent that waits gets a job that comes meanwhile', async () => {
  const agent = await agentNamed('agent-1');
  const waiting = agent.claim({ queues: ['awaited'], wait_seconds: 20 });
  await agent.done('enqueue', { queue: 'awaited', type: 't', payload: 'at last' });
  const job = (await waiting) as HeldJob;
  expect(job).toMatchObject({ payload: 'at last' });
  expect(await agent.done('release', Agent.lease(job))).toMatchObject({ outcome: 'pending' });
});
