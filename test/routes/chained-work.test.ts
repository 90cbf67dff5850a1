/** Several jobs for one poke, and what each costs: statements that reach the endpoint, counted, not timed. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import type { AppDeps } from '../../functions/deps.ts';
import { webClock } from '../../functions/web-ports.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import type { Sql } from '../../shared/ports.ts';
import { completeIn } from '../../shared/transaction/complete-in-transaction.ts';
import { pgTransaction } from '../../shared/transaction/pg-transaction.ts';
import type { Answer } from './support/app-harness.ts';
import { createScriptedWork } from './support/scripted-work.ts';
import type { ScriptedWork } from './support/scripted-work.ts';

const JOBS_PER_INVOCATION = 4;

let scripted: ScriptedWork;
let single: ScriptedWork;
beforeAll(async () => {
  scripted = await createScriptedWork({ JOBS_PER_INVOCATION: String(JOBS_PER_INVOCATION) });
  single = await createScriptedWork();
  // The first statement of an isolate is the look at the schema.
  await scripted.work();
  await single.work();
});
afterAll(() => Promise.all([scripted.app.close(), single.app.close()]));
beforeEach(async () => {
  for (const one of [scripted, single]) {
    await one.reset();
    one.behaviours.set('fine', () => 'done');
    one.behaviours.set('fails', () => {
      throw new Error('boom');
    });
  }
});

async function enqueued(at: ScriptedWork, behaviours: readonly string[]): Promise<string[]> {
  const ids = [];
  for (const behaviour of behaviours) ids.push(await at.enqueue(behaviour));
  await at.app.backgroundDone();
  at.app.pokes.length = 0;
  return ids;
}

const fine = (count: number): string[] => Array.from({ length: count }, () => 'fine');

/** One poke, and the statements that it cost. */
async function worked(
  at: ScriptedWork,
  overrides: Partial<AppDeps> = {},
): Promise<{ readonly body: Answer['body']; readonly roundTrips: number }> {
  const before = at.app.http.endpoint.requests;
  const { status, body } = await at.work(0, overrides);
  expect(status).toBe(200);
  const roundTrips = at.app.http.endpoint.requests - before;
  await at.app.backgroundDone();
  return { body, roundTrips };
}

/** A clock that a test can put forward; timers go on as they are. */
function clockAhead(): { readonly clock: AppDeps['clock']; put(ms: number): void } {
  let aheadMs = 0;
  return {
    clock: { now: () => webClock.now() + aheadMs },
    put: (ms) => {
      aheadMs += ms;
    },
  };
}

async function runningOf(at: ScriptedWork): Promise<number> {
  const { rows } = await at.app.database.pool.query<{ running: number }>(
    'select count(*)::int as running from leasehold.job_state where lane = 0',
  );
  return rows[0]?.running ?? Number.NaN;
}

describe('B.6 a worker that takes the next job with its report', () => {
  test('needs one round trip a job, and one claim to begin with', async () => {
    const ids = await enqueued(scripted, fine(JOBS_PER_INVOCATION));
    const { body, roundTrips } = await worked(scripted);
    expect(body).toMatchObject({
      outcome: 'succeeded',
      job_id: ids.at(-1),
      jobs_run: JOBS_PER_INVOCATION,
      more_due: false,
    });
    expect(roundTrips).toBe(JOBS_PER_INVOCATION + 1);
    for (const id of ids) {
      expect(await scripted.job(id)).toMatchObject({
        state: 'succeeded',
        attempt: 1,
        result: 'done',
      });
    }
    expect(scripted.app.pokes).toEqual([]);
  });

  test('by default does one job, in two round trips (C.2)', async () => {
    await enqueued(single, fine(3));
    for (const more_due of [true, true, false]) {
      const { body, roundTrips } = await worked(single);
      expect(body).toMatchObject({ outcome: 'succeeded', jobs_run: 1, more_due });
      expect(roundTrips).toBe(2);
    }
  });

  test('stops when its number is reached, claims nothing more and pokes on once', async () => {
    await enqueued(scripted, fine(JOBS_PER_INVOCATION + 2));
    const { body, roundTrips } = await worked(scripted);
    expect(body).toMatchObject({ jobs_run: JOBS_PER_INVOCATION, more_due: true });
    expect(roundTrips).toBe(JOBS_PER_INVOCATION + 1);
    expect(await runningOf(scripted)).toBe(0);
    expect(scripted.app.pokes).toEqual([{ queue: 'scripted', depth: 1 }]);
  });

  test('stops when nothing is due, with no claim of its own to learn it', async () => {
    await enqueued(scripted, fine(2));
    const { body, roundTrips } = await worked(scripted);
    expect(body).toMatchObject({ jobs_run: 2, more_due: false });
    expect(roundTrips).toBe(3);
    expect(scripted.app.pokes).toEqual([]);
  });

  test('reports a failure by itself, then claims: two round trips for that one', async () => {
    const [, failed] = await enqueued(scripted, ['fine', 'fails', 'fine', 'fine']);
    const { body, roundTrips } = await worked(scripted);
    expect(body).toMatchObject({ outcome: 'succeeded', jobs_run: 4 });
    expect(roundTrips).toBe(1 + 4 + 1);
    expect(await scripted.job(failed ?? '')).toMatchObject({ state: 'pending', attempt: 1 });
  });

  test('S1.17 gives each job a lease that ends with the invocation', async () => {
    const time = clockAhead();
    let seconds = Number.NaN;
    scripted.behaviours.set('slow', () => time.put(7_500));
    scripted.behaviours.set('look', async () => {
      const { rows } = await scripted.app.database.pool.query<{ seconds: number }>(
        `select extract(epoch from due_at - clock_timestamp())::float8 as seconds
         from leasehold.job_state where lane = 0`,
      );
      seconds = rows[0]?.seconds ?? Number.NaN;
    });
    await enqueued(scripted, ['slow', 'look']);
    await worked(scripted, { clock: time.clock, invocationMs: 10_000 });
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(2);
  });

  test('claims nothing when too little of the invocation is left', async () => {
    const time = clockAhead();
    scripted.behaviours.set('slow', () => time.put(29_000));
    const [, left] = await enqueued(scripted, ['slow', 'fine']);
    const { body, roundTrips } = await worked(scripted, { clock: time.clock });
    expect(body).toMatchObject({ outcome: 'succeeded', jobs_run: 1, more_due: true });
    expect(roundTrips).toBe(2);
    expect(await scripted.job(left ?? '')).toMatchObject({ state: 'pending', attempt: 0 });
    expect(scripted.app.pokes).toEqual([{ queue: 'scripted', depth: 1 }]);
  });

  test('gives the next job back when the report took all the time', async () => {
    const time = clockAhead();
    const { sql } = scripted.app.deps();
    const slow: Sql = {
      query: async (text, values, options) => {
        const rows = await sql.query<never>(text, values, options);
        if (text.includes('complete_and_claim')) time.put(29_000);
        return rows;
      },
    };
    const [, left] = await enqueued(scripted, ['fine', 'fine']);
    const { body } = await worked(scripted, { clock: time.clock, sql: slow });
    expect(body).toMatchObject({ outcome: 'succeeded', jobs_run: 1, more_due: true });
    expect(await scripted.job(left ?? '')).toMatchObject({
      state: 'pending',
      attempt: 0,
      attempts: [{ outcome: 'released' }],
    });
    expect(scripted.app.pokes).toEqual([{ queue: 'scripted', depth: 1 }]);
  });
});

describe('B.3 the answer of a fused report is lost', () => {
  test('and its repeat gives the same next lease: no attempt is spent twice', async () => {
    const ids = await enqueued(scripted, fine(3));
    const { faults } = scripted.app.http.endpoint;
    faults.next({ kind: 'drop_after_commit' }, { match: /complete_and_claim/, times: 2 });
    const { body, roundTrips } = await worked(scripted);
    expect(body).toMatchObject({ outcome: 'succeeded', jobs_run: 3 });
    expect(roundTrips).toBe(1 + 3 + 2);
    for (const id of ids) {
      const { attempts, ...job } = await scripted.job(id);
      expect(job).toMatchObject({ state: 'succeeded', attempt: 1 });
      expect(attempts).toMatchObject([{ outcome: 'succeeded', fencing_token: '1' }]);
    }
  });
});

test('B.3 a run that repeats its report by itself names the same claim', async () => {
  const { sql } = scripted.app.deps();
  let lost = false;
  const cut: Sql = {
    query: async (text, values, options) => {
      const rows = await sql.query<never>(text, values, options);
      if (lost || !text.includes('complete_and_claim')) return rows;
      lost = true;
      throw new LeaseholdError('database_unavailable', 'Cut off after the commit.');
    },
  };
  const ids = await enqueued(scripted, fine(3));
  const { body } = await worked(scripted, { sql: cut });
  expect(body).toMatchObject({ outcome: 'succeeded', jobs_run: 3 });
  for (const id of ids) {
    expect(await scripted.job(id)).toMatchObject({ state: 'succeeded', attempt: 1 });
  }
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

  test('a lost lease: its report counts for nothing, and the next job is run all the same', async () => {
    scripted.behaviours.set('loses', async () => {
      await scripted.app.database.pool.query(
        `update leasehold.job_state set fencing_token = fencing_token + 1, owner = 'other' where lane = 0`,
      );
      return 'too late';
    });
    const [lost, next] = await enqueued(scripted, ['loses', 'fine']);
    const { body } = await worked(scripted);
    expect(body).toMatchObject({ outcome: 'succeeded', job_id: next, jobs_run: 2 });
    expect(await scripted.job(lost ?? '')).toMatchObject({
      state: 'running',
      lease: { owner: 'other' },
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

describe('jobs that no handler can run, among others', () => {
  test('are buried on the way and counted, and take no place of those that run', async () => {
    await enqueued(scripted, ['fine']);
    for (let at = 0; at < 3; at += 1) await scripted.enqueue('fine', { type: 'nobody knows' });
    await enqueued(scripted, fine(JOBS_PER_INVOCATION - 1));
    const { body } = await worked(scripted);
    expect(body).toMatchObject({
      outcome: 'succeeded',
      jobs_run: JOBS_PER_INVOCATION,
      jobs_buried: 3,
    });
  });

  test('and nothing else: the answer says so, and pokes on when time ran out before the rest', async () => {
    const time = clockAhead();
    const { sql } = single.app.deps();
    const slow: Sql = {
      query: async (text, values, options) => {
        const rows = await sql.query<never>(text, values, options);
        if (text.includes('leasehold.fail(')) time.put(29_000);
        return rows;
      },
    };
    for (let at = 0; at < 2; at += 1) await single.enqueue('fine', { type: 'nobody knows' });
    await single.app.backgroundDone();
    single.app.pokes.length = 0;
    const { body } = await worked(single, { clock: time.clock, sql: slow });
    expect(body).toMatchObject({
      outcome: 'dead',
      code: 'unknown_type',
      jobs_run: 0,
      jobs_buried: 1,
      more_due: true,
    });
    expect(single.app.pokes).toEqual([{ queue: 'scripted', depth: 1 }]);
  });

  test('nor does it poke on when others took the rest', async () => {
    const { sql } = single.app.deps();
    let claims = 0;
    const raced: Sql = {
      query: async (text, values, options) => {
        if (text.includes('leasehold.claim(') && ++claims === 2) return [];
        return await sql.query<never>(text, values, options);
      },
    };
    for (let at = 0; at < 2; at += 1) await single.enqueue('fine', { type: 'nobody knows' });
    await single.app.backgroundDone();
    single.app.pokes.length = 0;
    const { body } = await worked(single, { sql: raced });
    expect(body).toMatchObject({ outcome: 'dead', jobs_buried: 1, more_due: false });
    expect(single.app.pokes).toEqual([]);
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
