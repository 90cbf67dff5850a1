/** A job that comes with the report of another one comes as if it had been claimed. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { completeIn } from '../../shared/transaction/complete-in-transaction.ts';
import { pgTransaction } from '../../shared/transaction/pg-transaction.ts';
import { enqueued, runningOf, worked } from './support/counted-work.ts';
import { createScriptedWork } from './support/scripted-work.ts';
import type { ScriptedWork } from './support/scripted-work.ts';

let scripted: ScriptedWork;
beforeAll(async () => {
  scripted = await createScriptedWork({ config: { JOBS_PER_INVOCATION: '4' }, leaseSeconds: 60 });
  // A lease so long that no heartbeat is among what is counted. The first statement of an isolate is the look at the schema.
  await scripted.work();
});
afterAll(() => scripted.app.close());
beforeEach(async () => {
  await scripted.reset();
  scripted.behaviours.set('fine', () => 'done');
});

describe('B.6 what holds for a claim holds for a fused one', () => {
  test('a limit of one lease: the job that ends makes room for the next', async () => {
    await setting(`concurrency_limit = 1`);
    let most = 0;
    scripted.behaviours.set('count', async () => {
      most = Math.max(most, await runningOf(scripted));
    });
    await enqueued(scripted, ['count', 'count', 'count']);
    const { body, roundTrips } = await worked(scripted);
    expect(body).toMatchObject({ jobs_run: 3 });
    expect(roundTrips).toBe(4);
    expect(most).toBe(1);
    await setting('concurrency_limit = null');
  });

  test.each(['fine', 'fails'])(
    'S1.16 a rate that is used up behind a job that is %s: a drain, which learns until when',
    async (last) => {
      scripted.behaviours.set('fails', () => {
        throw new Error('boom');
      });
      const [, , left] = await enqueued(scripted, ['fine', last, 'fine']);
      await setting('rate_limit = 2');
      scripted.app.wakes.length = 0;
      const { body, roundTrips } = await worked(scripted);
      await setting('rate_limit = null');
      await scripted.app.database.pool.query('delete from leasehold.rate_starts');
      expect(body).toMatchObject({ jobs_run: 2, more_due: false });
      expect(roundTrips).toBe(4);
      expect(await scripted.job(left ?? '')).toMatchObject({ state: 'pending', attempt: 0 });
      expect(Math.min(...scripted.app.wakes)).toBeLessThanOrEqual(Date.now());
    },
  );

  test('a pause: the queue stands still after the job that runs', async () => {
    scripted.behaviours.set('pauses', () => setting('paused_at = clock_timestamp()'));
    const [done, left] = await enqueued(scripted, ['pauses', 'fine']);
    const { body } = await worked(scripted);
    expect(body).toMatchObject({ outcome: 'succeeded', jobs_run: 1, more_due: false });
    expect(await scripted.job(done ?? '')).toMatchObject({ state: 'succeeded' });
    expect(await scripted.job(left ?? '')).toMatchObject({ state: 'pending', attempt: 0 });
    await setting('paused_at = null');
  });

  test('an ordering key: the next of the key is free with the report of the one before', async () => {
    const order: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      scripted.behaviours.set(name, () => void order.push(name));
      await scripted.enqueue(name, { ordering_key: 'one' });
    }
    const { body, roundTrips } = await worked(scripted);
    expect(body).toMatchObject({ jobs_run: 3 });
    expect(order).toEqual(['a', 'b', 'c']);
    expect(roundTrips).toBe(4);
  });

  test('effects: each is recorded under its own job', async () => {
    const ran: string[] = [];
    scripted.behaviours.set('charges', ({ effect }) =>
      effect('charge', ({ idempotencyKey }) => {
        ran.push(idempotencyKey);
        return idempotencyKey;
      }),
    );
    const ids = await enqueued(scripted, ['charges', 'charges']);
    const { roundTrips } = await worked(scripted);
    expect(ran).toEqual(ids.map((id) => `${id}/charge`));
    expect(roundTrips).toBe(1 + 2 * 3);
    for (const id of ids) {
      expect(await scripted.job(id)).toMatchObject({
        state: 'succeeded',
        result: `${id}/charge`,
        effects: [{ key: 'charge', state: 'done' }],
      });
    }
  });

  test('a completion in a transaction of the handler: its result stays, and the report takes the next job', async () => {
    scripted.behaviours.set('commits', async ({ lease }) => {
      const client = await scripted.app.database.pool.connect();
      await client.query('begin');
      await completeIn(pgTransaction(client), lease, 'of the transaction');
      await client.query('commit');
      client.release();
      return 'of the handler';
    });
    const [first, second] = await enqueued(scripted, ['commits', 'fine']);
    const { body } = await worked(scripted);
    expect(body).toMatchObject({ outcome: 'succeeded', job_id: second, jobs_run: 2 });
    expect(await scripted.job(first ?? '')).toMatchObject({
      state: 'succeeded',
      result: 'of the transaction',
      attempts: [{ outcome: 'succeeded' }],
    });
  });

  test('a lost lease: its report counts for nothing and takes nothing, and another invocation goes on', async () => {
    scripted.behaviours.set('loses', async () => {
      await scripted.app.database.pool.query(
        `update leasehold.job_state set fencing_token = fencing_token + 1, owner = 'other' where lane = 0`,
      );
      return 'too late';
    });
    const [lost, next] = await enqueued(scripted, ['loses', 'fine']);
    const { body, roundTrips } = await worked(scripted);
    expect(body).toMatchObject({
      outcome: 'lease_lost',
      job_id: lost,
      jobs_run: 1,
      more_due: true,
    });
    expect(roundTrips).toBe(2);
    expect(scripted.app.pokes).toEqual([{ queue: 'scripted', depth: 1 }]);
    expect(await scripted.job(lost ?? '')).toMatchObject({
      state: 'running',
      lease: { owner: 'other' },
    });
    expect(await scripted.job(next ?? '')).toMatchObject({
      state: 'pending',
      attempt: 0,
      attempts: [],
    });
  });

  test('a job that was called off: it ends cancelled, and the next one is run', async () => {
    scripted.behaviours.set('hears nothing', async () => {
      const [running] = await runningIds();
      await scripted.app.call('POST', `/v1/jobs/${running ?? ''}/cancel`);
      return 'kept';
    });
    const [off, next] = await enqueued(scripted, ['hears nothing', 'fine']);
    const { body } = await worked(scripted);
    expect(body).toMatchObject({ outcome: 'succeeded', job_id: next, jobs_run: 2 });
    expect(await scripted.job(off ?? '')).toMatchObject({ state: 'cancelled', result: 'kept' });
  });
});

async function setting(assignment: string): Promise<void> {
  await scripted.app.database.pool.query(
    `update leasehold.queues set ${assignment} where name = 'scripted'`,
  );
}

async function runningIds(): Promise<string[]> {
  const { rows } = await scripted.app.database.pool.query<{ job_id: string }>(
    'select job_id from leasehold.job_state where lane = 0',
  );
  return rows.map(({ job_id }) => job_id);
}
