import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createHttpSql, type HttpSql } from '../support/http-sql.ts';
import { raceThrough } from './racing-claimers.ts';

let db: TestDatabase;
let http: HttpSql;
beforeAll(async () => {
  db = await createTestDatabase();
  http = await createHttpSql(db);
});
afterAll(async () => {
  await http.close();
  await db.drop();
});

describe('racing claimers', () => {
  test('S3.2 through the HTTP driver, 8 claimers over 2,000 jobs: every (job, token) once, every job done once', async () => {
    const race = await raceThrough({ sql: http.sql, queue: 'http', jobs: 2000, claimers: 8 });
    expect(race.claims).toHaveLength(2000);
    expect(new Set(race.claims).size).toBe(2000);
    expect(new Set(race.completions)).toEqual(race.added);
    expect(race.completions).toHaveLength(2000);
    const { rows } = await db.pool.query(
      `select
         (select count(*)::int from leasehold.job_state where queue = 'http') as left_over,
         (select count(*)::int from leasehold.finished_jobs) as finished,
         (select count(*)::int from leasehold.attempts) as attempts,
         (select count(*)::int from leasehold.job_events where type = 'claimed') as claimed`,
    );
    expect(rows).toEqual([{ left_over: 0, finished: 2000, attempts: 2000, claimed: 2000 }]);
  }, 120_000);

  test('S3.2 over direct connections, 16 claimers over 5,000 jobs: no duplicate, none lost', async () => {
    const race = await raceThrough({ sql: db.sql, queue: 'direct', jobs: 5000, claimers: 16 });
    expect(new Set(race.claims).size).toBe(race.claims.length);
    expect(new Set(race.completions)).toEqual(race.added);
    expect(race.completions).toHaveLength(5000);
  }, 120_000);

  test('B.6 each completion takes the next job, 16 workers over 2,000 jobs: no duplicate, none lost', async () => {
    const race = await raceThrough({
      sql: db.sql,
      queue: 'fused',
      jobs: 2000,
      claimers: 16,
      fused: true,
    });
    expect(new Set(race.claims).size).toBe(race.claims.length);
    expect(new Set(race.completions)).toEqual(race.added);
    expect(race.completions).toHaveLength(2000);
  }, 120_000);

  test('B.6 the same with ordering keys and a limit that holds half of them back: no deadlock, none lost', async () => {
    const queue = 'fused and limited';
    await configureQueue(db.sql, { queue, settings: { concurrency_limit: 4 }, actor: 'test' });
    const input = { sql: db.sql, queue, jobs: 400, keys: 16, fused: true };
    const first = await raceThrough({ ...input, claimers: 8 });
    // Whoever met the limit went away; one more sees to what is left.
    const rest = await raceThrough({ ...input, jobs: 0, claimers: 1 });
    const claims = [...first.claims, ...rest.claims];
    expect(new Set(claims).size).toBe(400);
    expect(claims).toHaveLength(400);
    expect(new Set([...first.completions, ...rest.completions])).toEqual(first.added);
  }, 120_000);

  test('S1.1 two claims forced to overlap take two different jobs, and the second does not wait', async () => {
    await raceThrough({ sql: db.sql, queue: 'overlap', jobs: 2, claimers: 0 });
    const first = await db.pool.connect();
    const second = await db.pool.connect();
    try {
      await first.query('begin');
      const a = await first.query(
        `select job_id from leasehold.claim('overlap', 'a', gen_random_uuid())`,
      );
      await second.query(`set lock_timeout = '1s'`);
      const b = await second.query(
        `select job_id from leasehold.claim('overlap', 'b', gen_random_uuid())`,
      );
      await first.query('commit');
      expect(a.rows).toHaveLength(1);
      expect(b.rows).toHaveLength(1);
      expect(a.rows).not.toEqual(b.rows);
    } finally {
      await second.query('reset lock_timeout');
      first.release();
      second.release();
    }
  });

  test('a claim that rolls back leaves its job to the next one', async () => {
    await raceThrough({ sql: db.sql, queue: 'rolled-back', jobs: 1, claimers: 0 });
    const client = await db.pool.connect();
    const call = `select job_id, attempt from leasehold.claim('rolled-back', 'a', gen_random_uuid())`;
    try {
      await client.query('begin');
      expect((await client.query(call)).rows).toMatchObject([{ attempt: 1 }]);
      await client.query('rollback');
      expect((await client.query(call)).rows).toMatchObject([{ attempt: 1 }]);
    } finally {
      client.release();
    }
  });

  test('two enqueues of one id at once: the second waits, then both name the same job', async () => {
    const first = await db.pool.connect();
    const second = await db.pool.connect();
    const call = `select outcome from leasehold.enqueue($1::uuid, 'same-id', 't', '1')`;
    try {
      const { rows } = await first.query('select leasehold.new_job_id()::text as id');
      const jobId = (rows[0] as { id: string }).id;
      await first.query('begin');
      const a = await first.query(call, [jobId]);
      const b = second.query(call, [jobId]);
      await first.query('commit');
      expect([a.rows, (await b).rows]).toEqual([[{ outcome: 'created' }], [{ outcome: 'exists' }]]);
    } finally {
      first.release();
      second.release();
    }
  });
});
