import { randomBytes } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { claim } from '../../shared/queue/claim.ts';
import { enqueue } from '../../shared/queue/enqueue.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { listJobs } from '../../shared/queue/list-jobs.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createHttpSql, type HttpSql } from '../support/http-sql.ts';

const ROLE = `kolkata_${randomBytes(4).toString('hex')}`;
let db: TestDatabase;
/** Connects as a role whose sessions are in Kolkata, five and a half hours ahead. */
let kolkata: HttpSql;
let utc: HttpSql;
beforeAll(async () => {
  vi.stubEnv('TZ', 'America/New_York');
  db = await createTestDatabase();
  await db.pool.query(`create role ${ROLE} login superuser password 'secret'`);
  await db.pool.query(`alter role ${ROLE} set timezone = 'Asia/Kolkata'`);
  const url = new URL(db.pgUrl);
  url.username = ROLE;
  url.password = 'secret';
  kolkata = await createHttpSql({ sqlUrl: url.href });
  utc = await createHttpSql(db);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await kolkata.close();
  await utc.close();
  await db.pool.query(`drop role ${ROLE}`);
  await db.drop();
});

test('case H7 the role’s zone holds for each request, after a session reset too', async () => {
  for (let request = 0; request < 3; request += 1) {
    expect(await kolkata.sql.query(`select current_setting('timezone') as zone`, [])).toEqual([
      { zone: 'Asia/Kolkata' },
    ]);
    await kolkata.sql.query(`select set_config('timezone', 'Asia/Tokyo', false)`, []);
  }
});

test('case H7 an instant is the same instant, whatever the zones of session and process', async () => {
  const now = 'select clock_timestamp() as at, now()::date as day, clock_timestamp()::text as text';
  const [[here], [there]] = [await kolkata.sql.query(now, []), await utc.sql.query(now, [])];
  const [kolkataAt, utcAt] = [here?.['at'] as Date, there?.['at'] as Date];
  expect(Math.abs(utcAt.getTime() - kolkataAt.getTime())).toBeLessThan(5_000);
  expect(here?.['text']).toMatch(/\+05:30$/);
});

test('case H7 jobs now and in a minute: same instants, answers with an offset', async () => {
  const enqueued = async (dueAt?: string) => {
    const job = { id: uuidv7(), queue: 'h7', type: 't', payload: {} };
    return enqueue(kolkata.sql, {
      job: dueAt === undefined ? job : { ...job, dueAt },
      actor: 'shop',
    });
  };
  const first = await enqueued();
  const inAMinute = new Date(first.createdAt.getTime() + 60_000);
  const later = await enqueued(inAMinute.toISOString());
  expect(later.dueAt).toEqual(inAMinute);
  expect(first.dueAt.getTime() - first.createdAt.getTime()).toBeLessThan(1_000);

  for (const { jobId } of [first, later]) {
    const seen = await getJob(kolkata.sql, { jobId });
    expect(seen).toEqual(await getJob(utc.sql, { jobId }));
    expect(seen?.due_at).toMatch(/T[\d:.]+Z$/);
    expect(seen?.created_at).toMatch(/T[\d:.]+Z$/);
  }
  const page = await listJobs(kolkata.sql, { queue: 'h7', limit: 10 });
  expect(page).toEqual(await listJobs(utc.sql, { queue: 'h7', limit: 10 }));

  const taken = await claim(kolkata.sql, { queue: 'h7', owner: 'w', claimId: uuidv7() });
  if (taken.outcome === 'empty') throw new Error('the job of now was not due');
  expect(taken.job.jobId).toBe(first.jobId);
  const leaseMs = taken.job.leaseExpiresAt.getTime() - first.createdAt.getTime();
  expect(leaseMs).toBeGreaterThan(taken.job.leaseSeconds * 1000 - 1);
  expect(leaseMs).toBeLessThan(taken.job.leaseSeconds * 1000 + 10_000);
  const second = await claim(kolkata.sql, { queue: 'h7', owner: 'w', claimId: uuidv7() });
  expect(second.outcome).toBe('empty');
});
