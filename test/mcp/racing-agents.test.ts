import { afterAll, beforeAll, expect, test } from 'vitest';

import { Agent } from './support/agent.ts';
import type { HeldJob } from './support/agent.ts';
import { createMcpHarness } from './support/mcp-harness.ts';
import type { McpHarness } from './support/mcp-harness.ts';

const JOBS = 24;

let board: McpHarness;
beforeAll(async () => {
  board = await createMcpHarness();
});
afterAll(() => board.close());

type Taken = Pick<HeldJob, 'id' | 'fencing_token'>;

/** Somebody who takes jobs: an agent by its tools, a person by the HTTP API. */
interface Taker {
  readonly name: string;
  claim(): Promise<Taken | undefined>;
  complete(job: Taken): Promise<unknown>;
}

async function agentTaker(name: string): Promise<Taker> {
  const agent = await board.agent(name);
  return {
    name,
    claim: () => agent.claim({ queues: ['raced'] }),
    complete: async ({ id, fencing_token }) =>
      (await agent.done('complete', { job_id: id, fencing_token }))['outcome'],
  };
}

function personTaker(actor: string): Taker {
  const { app } = board;
  return {
    name: actor,
    claim: async () => {
      const { body } = await app.call('POST', '/v1/queues/raced/claims', { actor });
      const [job] = body['jobs'] as readonly Taken[];
      return job;
    },
    complete: async ({ id, fencing_token }) => {
      const path = `/v1/leases/${id}/complete`;
      return (await app.call('POST', path, { actor, body: { fencing_token } })).body['outcome'];
    },
  };
}

test('S2.1 B.5 two agents and a person take every job once, from one board through one claim', async () => {
  const jobs = Array.from({ length: JOBS }, (_, payload) => ({
    queue: 'raced',
    type: 't',
    payload,
  }));
  await board.app.call('POST', '/v1/jobs/batch', { body: { jobs } });
  const takers = [await agentTaker('agent-1'), await agentTaker('agent-2'), personTaker('ada')];
  const taken: { readonly by: string; readonly id: string }[] = [];

  // All hold a job at one time before anybody ends one: so nobody comes too late for the race.
  const first = await Promise.all(takers.map((taker) => taker.claim()));
  await Promise.all(
    takers.map(async (taker, index) => {
      for (let job = first[index]; job !== undefined; job = await taker.claim()) {
        taken.push({ by: taker.name, id: job.id });
        expect(await taker.complete(job)).toBe('succeeded');
      }
    }),
  );

  expect(taken).toHaveLength(JOBS);
  expect(new Set(taken.map(({ id }) => id)).size).toBe(JOBS);
  expect(new Set(taken.map(({ by }) => by))).toEqual(new Set(['agent-1', 'agent-2', 'ada']));
  // The log says the same of each.
  const { rows } = await board.app.database.pool.query<{ id: string; by: string }>(
    `select job_id as id, actor as by from leasehold.job_events where type = 'claimed'`,
  );
  const sorted = (list: readonly { readonly id: string; readonly by: string }[]): string[] =>
    list.map(({ id, by }) => `${id} ${by}`).toSorted();
  expect(sorted(rows)).toEqual(sorted(taken));
});

test('S2.1 two claims at one moment get two jobs', async () => {
  const [one, other] = await Promise.all([board.agent('agent-1'), board.agent('agent-2')]);
  for (let round = 0; round < 10; round += 1) {
    const queues = [`pair-${round}`];
    for (const payload of [1, 2]) {
      await one.done('enqueue', { queue: queues[0], type: 't', payload });
    }
    const both = await Promise.all([one.claim({ queues }), other.claim({ queues })]);
    expect(new Set(both.map((job) => job?.payload))).toEqual(new Set([1, 2]));
  }
});

test('S2.1 a job whose holder says nothing more goes to another, and the first one hears of it', async () => {
  const [slow, quick] = await Promise.all([board.agent('slow'), board.agent('quick')]);
  await slow.done('enqueue', { queue: 'taken-over', type: 't', payload: 1 });
  const lost = (await slow.claim({ queues: ['taken-over'], lease_seconds: 1 })) as HeldJob;
  const job = await quick.claim({ queues: ['taken-over'], wait_seconds: 20 });
  expect(job).toMatchObject({ id: lost.id, attempt: 2 });
  const late = { ...Agent.lease(lost), result: 'late' };
  expect(await slow.done('complete', late)).toMatchObject({ outcome: 'lease_lost' });
  expect(await quick.done('complete', Agent.lease(job as HeldJob))).toMatchObject({
    outcome: 'succeeded',
  });
});
