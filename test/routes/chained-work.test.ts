/** Several jobs for one poke, and what each costs: statements that reach the endpoint, counted, not timed. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { LeaseholdError } from '../../shared/errors.ts';
import {
  afterStatement,
  clockAhead,
  enqueued,
  fine,
  runningOf,
  worked,
} from './support/counted-work.ts';
import { createScriptedWork } from './support/scripted-work.ts';
import type { ScriptedWork } from './support/scripted-work.ts';

const JOBS_PER_INVOCATION = 4;
/** So long that no heartbeat is among what is counted. */
const LEASE_SECONDS = 60;

let scripted: ScriptedWork;
let single: ScriptedWork;
beforeAll(async () => {
  scripted = await createScriptedWork({
    config: { JOBS_PER_INVOCATION: String(JOBS_PER_INVOCATION) },
    leaseSeconds: LEASE_SECONDS,
  });
  single = await createScriptedWork({ leaseSeconds: LEASE_SECONDS });
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
    scripted.behaviours.set('slow', () => time.put(4_500));
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
    expect(seconds).toBeLessThanOrEqual(5);
  });

  test.each([
    ['half of the invocation', {}, 15_000],
    ['the time that its platform gives it for more', { takesMoreMs: 4000 }, 4000],
  ])('S1.10 takes no more jobs after %s: the last one has time to run', async (_, deps, ms) => {
    const time = clockAhead();
    scripted.behaviours.set('slow', () => time.put(ms));
    scripted.behaviours.set('slow and fails', () => {
      time.put(ms);
      throw new Error('boom');
    });
    for (const slow of ['slow', 'slow and fails']) {
      const [, left] = await enqueued(scripted, [slow, 'fine']);
      const { body } = await worked(scripted, { clock: time.clock, ...deps });
      expect(body).toMatchObject({ jobs_run: 1, more_due: true });
      expect(await scripted.job(left ?? '')).toMatchObject({ state: 'pending', attempt: 0 });
      expect(scripted.app.pokes).toEqual([{ queue: 'scripted', depth: 1 }]);
      await scripted.app.call('POST', `/v1/jobs/${left ?? ''}/cancel`);
    }
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
    const slow = afterStatement(scripted, 'complete_and_claim', () => time.put(29_000));
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
  let answers = 0;
  const cut = afterStatement(scripted, 'complete_and_claim', () => {
    answers += 1;
    if (answers === 1) throw new LeaseholdError('database_unavailable', 'Cut off.');
  });
  const ids = await enqueued(scripted, fine(3));
  const { body } = await worked(scripted, { sql: cut });
  expect(body).toMatchObject({ outcome: 'succeeded', jobs_run: 3 });
  for (const id of ids) {
    expect(await scripted.job(id)).toMatchObject({ state: 'succeeded', attempt: 1 });
  }
});
