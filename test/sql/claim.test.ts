import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { claim } from '../../shared/queue/claim.ts';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { fail } from '../../shared/queue/fail.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { added, claimed, eventTypes, expireLease, makeDue } from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const error = { code: 'timeout', message: 'No answer.' };

describe('leasehold.claim', () => {
  test('S1.1 a claim takes one due job of one queue and leaves no lock and no transaction open', async () => {
    const jobId = await added(db.sql, { queue: 'one' });
    await added(db.sql, { queue: 'other' });
    const job = await claimed(db.sql, 'one');
    expect(job).toMatchObject({
      jobId,
      queue: 'one',
      attempt: 1,
      fencingToken: '1',
      moreDue: false,
    });
    const { rows } = await db.pool.query(
      `select count(*)::int as n from pg_stat_activity
       where datname = current_database() and state like 'idle in transaction%'`,
    );
    expect(rows).toEqual([{ n: 0 }]);
    await db.pool.query('select 1 from leasehold.job_state where job_id = $1 for update nowait', [
      jobId,
    ]);
    expect(await eventTypes(db.pool, jobId)).toEqual(['created', 'claimed']);
  });

  test('S1.6 the lease runs by the database clock, not by what any worker says', async () => {
    await configureQueue(db.sql, {
      queue: 'clock',
      settings: { lease_seconds: 40, max_run_seconds: 100 },
      actor: 'test',
    });
    const jobId = await added(db.sql, { queue: 'clock' });
    const job = await claimed(db.sql, 'clock');
    const { rows } = await db.pool.query(
      `select extract(epoch from due_at - started_at)::int as lease,
         extract(epoch from run_deadline_at - started_at)::int as run,
         abs(extract(epoch from clock_timestamp() - started_at)) < 20 as by_database_clock
       from leasehold.job_state where job_id = $1`,
      [jobId],
    );
    expect(rows).toEqual([{ lease: 40, run: 100, by_database_clock: true }]);
    expect(job).toMatchObject({
      leaseSeconds: 40,
      leaseRemainingMs: 40_000,
      runRemainingMs: 100_000,
    });
  });

  test('a lease asked for is bounded by the run deadline, and out of range is refused', async () => {
    await configureQueue(db.sql, {
      queue: 'bounded',
      settings: { max_run_seconds: 10 },
      actor: 'test',
    });
    await added(db.sql, { queue: 'bounded' });
    const ask = { queue: 'bounded', owner: 'w', claimId: uuidv7() };
    for (const leaseSeconds of [0, 3601]) {
      await expect(claim(db.sql, { ...ask, leaseSeconds })).rejects.toMatchObject({
        code: 'invalid_request',
      });
    }
    expect(await claim(db.sql, { ...ask, leaseSeconds: 3600 })).toMatchObject({
      job: { leaseSeconds: 10 },
    });
  });

  test('S1.2 the fencing token grows with every claim and is never reused', async () => {
    const jobId = await added(db.sql, { queue: 'tokens', maxAttempts: 9 });
    const tokens: string[] = [];
    for (let i = 0; i < 3; i += 1) {
      const job = await claimed(db.sql, 'tokens');
      tokens.push(job.fencingToken);
      await fail(db.sql, { ...job, error, failureClass: 'transient' });
      await makeDue(db.pool, jobId);
    }
    const crashed = await claimed(db.sql, 'tokens');
    await expireLease(db.pool, jobId);
    tokens.push(crashed.fencingToken, (await claimed(db.sql, 'tokens')).fencingToken);
    expect(tokens).toEqual(['1', '2', '3', '4', '5']);
  });

  test('case A3 tokens and event ids beyond 2^53 stay exact', async () => {
    await db.pool.query('alter sequence leasehold.job_event_id restart with 9007199254740993');
    const jobId = await added(db.sql, { queue: 'big' });
    await db.pool.query(
      'update leasehold.job_state set fencing_token = 9007199254740992 where job_id = $1',
      [jobId],
    );
    const job = await claimed(db.sql, 'big');
    expect(job.fencingToken).toBe('9007199254740993');
    expect(
      await fail(db.sql, {
        ...job,
        fencingToken: '9007199254740992',
        error,
        failureClass: 'transient',
      }),
    ).toEqual({
      outcome: 'lease_lost',
    });
    expect((await fail(db.sql, { ...job, error, failureClass: 'transient' })).outcome).toBe(
      'pending',
    );
    expect((await getJob(db.sql, { jobId }))?.attempts[0]?.fencing_token).toBe('9007199254740993');
    const { rows } = await db.pool.query(
      'select id from leasehold.job_events where job_id = $1 order by id',
      [jobId],
    );
    expect(rows[0]).toEqual({ id: '9007199254740993' });
  });

  test('delayed jobs are not claimed early, and an empty claim writes nothing', async () => {
    const jobId = await added(db.sql, { queue: 'later', delayMs: 3_600_000 });
    const { rows: before } = await db.pool.query('select pg_current_wal_lsn() as lsn');
    expect(await claim(db.sql, { queue: 'later', owner: 'w', claimId: uuidv7() })).toEqual({
      outcome: 'empty',
    });
    const { rows: after } = await db.pool.query(
      `select (select count(*)::int from leasehold.job_events where job_id = $1) as events`,
      [jobId],
    );
    expect(before).toHaveLength(1);
    expect(after).toEqual([{ events: 1 }]);
  });

  test('an empty claim takes no transaction id, so it flushes nothing', async () => {
    const client = await db.pool.connect();
    try {
      await client.query('begin');
      await client.query('select * from leasehold.claim($1, $2, $3)', [
        'nothing-here',
        'w',
        uuidv7(),
      ]);
      const { rows } = await client.query('select pg_current_xact_id_if_assigned() as id');
      expect(rows).toEqual([{ id: null }]);
    } finally {
      await client.query('rollback');
      client.release();
    }
  });

  test('B.3 a repeated claim id gives the same lease and spends no attempt', async () => {
    const jobId = await added(db.sql, { queue: 'lost-answer' });
    await added(db.sql, { queue: 'lost-answer' });
    const ask = { queue: 'lost-answer', owner: 'w', claimId: uuidv7() };
    const first = await claim(db.sql, ask);
    const again = await claim(db.sql, ask);
    expect(again).toMatchObject({
      outcome: 'claimed',
      job: { jobId, fencingToken: '1', attempt: 1 },
    });
    expect(first).toMatchObject({ outcome: 'claimed', job: { jobId } });
    expect(await eventTypes(db.pool, jobId)).toEqual(['created', 'claimed']);
  });

  test('a claim id repeated after its lease ran out is a new claim', async () => {
    const jobId = await added(db.sql, { queue: 'late-repeat' });
    const ask = { queue: 'late-repeat', owner: 'w', claimId: uuidv7() };
    await claim(db.sql, ask);
    await expireLease(db.pool, jobId);
    expect(await claim(db.sql, ask)).toMatchObject({
      job: { jobId, fencingToken: '2', attempt: 2 },
    });
  });

  test('urgent goes before normal, and waiting work ages past fresh urgent work', async () => {
    const low = await added(db.sql, { queue: 'ages', priority: 'low' });
    const urgent = await added(db.sql, { queue: 'ages', priority: 'urgent' });
    const high = await added(db.sql, { queue: 'ages', priority: 'high' });
    await db.pool.query(
      `update leasehold.job_state set due_at = due_at - interval '16 minutes' where job_id = $1`,
      [low],
    );
    const order = [];
    for (let i = 0; i < 3; i += 1) order.push((await claimed(db.sql, 'ages')).jobId);
    expect(order).toEqual([low, urgent, high]);
  });

  test('a bad queue, owner or claim id is refused by name', async () => {
    await expect(claim(db.sql, { queue: 'q', owner: '', claimId: uuidv7() })).rejects.toThrow(
      /owner/,
    );
    await expect(
      claim(db.sql, { queue: 'q', owner: 'o'.repeat(201), claimId: uuidv7() }),
    ).rejects.toThrow(/owner/);
    await expect(db.pool.query(`select leasehold.claim('q', 'w', null)`)).rejects.toThrow(
      /claim_id/,
    );
    await expect(
      db.pool.query(`select leasehold.claim(null, 'w', gen_random_uuid())`),
    ).rejects.toThrow(/queue/);
  });
});
