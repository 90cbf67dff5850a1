import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { enqueueBatch } from '../../shared/queue/enqueue-batch.ts';
import { enqueue } from '../../shared/queue/enqueue.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { claimed, eventTypes, newJob } from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const count = async (table: string): Promise<number> => {
  const { rows } = await db.pool.query(`select count(*)::int as n from leasehold.${table}`);
  return (rows[0] as { n: number }).n;
};

describe('leasehold.enqueue_batch', () => {
  test('S3.4 payload, hot state and history lie in separate tables, written in one call', async () => {
    const job = newJob({
      queue: 'split',
      payload: { deep: [1, { two: 'zwei' }] },
      priority: 'high',
    });
    const added = await enqueue(db.sql, { job, actor: 'shop' });
    expect(added).toMatchObject({
      jobId: job.id,
      outcome: 'created',
      priority: 'high',
      maxAttempts: 5,
    });
    const { rows: states } = await db.pool.query(
      'select * from leasehold.job_state where job_id = $1',
      [job.id],
    );
    expect(states[0]).toMatchObject({ lane: 2, fencing_token: '0', attempt: 0, owner: null });
    expect(states[0]).not.toHaveProperty('payload');
    const { rows: jobs } = await db.pool.query('select * from leasehold.jobs where id = $1', [
      job.id,
    ]);
    expect(jobs[0]).toMatchObject({ payload: job.payload, created_by: 'shop' });
    expect(await eventTypes(db.pool, job.id)).toEqual(['created']);
    expect(await getJob(db.sql, { jobId: job.id })).toMatchObject({
      state: 'pending',
      attempts: [],
    });
  });

  test('B.3 a repeated enqueue is the same row and gives the same answer', async () => {
    const job = newJob({ queue: 'repeat', delayMs: 60_000 });
    const first = await enqueue(db.sql, { job, actor: 'shop' });
    const again = await enqueue(db.sql, { job, actor: 'shop' });
    expect(again).toEqual({ ...first, outcome: 'exists' });
    expect(await eventTypes(db.pool, job.id)).toEqual(['created']);
  });

  test('a repeat after the job has run changes nothing either', async () => {
    const job = newJob({ queue: 'repeat-late' });
    await enqueue(db.sql, { job, actor: 'shop' });
    await claimed(db.sql, 'repeat-late');
    expect((await enqueue(db.sql, { job, actor: 'shop' })).outcome).toBe('exists');
    expect(await eventTypes(db.pool, job.id)).toEqual(['created', 'claimed']);
  });

  test.each([
    ['queue', { queue: 'other' }],
    ['type', { type: 'other' }],
    ['payload', { payload: { to: 'b@example.com' } }],
  ])(
    'an id that belongs to a job with another %s is a conflict that shows nothing of it',
    async (_, change) => {
      const job = newJob({ queue: 'conflict', payload: { secret: 'kept' } });
      await enqueue(db.sql, { job, actor: 'shop' });
      const attempt = enqueue(db.sql, { job: { ...job, ...change }, actor: 'shop' });
      await expect(attempt).rejects.toMatchObject({ code: 'job_id_conflict' });
      await expect(attempt).rejects.not.toThrow(/kept/);
    },
  );

  test('a batch is all or nothing', async () => {
    const taken = newJob({ queue: 'batch' });
    await enqueue(db.sql, { job: taken, actor: 'shop' });
    const before = await count('jobs');
    const jobs = [
      newJob({ queue: 'batch' }),
      { ...taken, type: 'other' },
      newJob({ queue: 'batch' }),
    ];
    await expect(enqueueBatch(db.sql, { jobs, actor: 'shop' })).rejects.toThrow(/jobs\[1\]\.id/);
    expect(await count('jobs')).toBe(before);
  });

  test('a batch of 1,000 keeps its order, and 1,001 are refused', async () => {
    const jobs = Array.from({ length: 1000 }, (_, i) => newJob({ queue: 'thousand', payload: i }));
    const added = await enqueueBatch(db.sql, { jobs, actor: 'shop' });
    expect(added.map((one) => one.jobId)).toEqual(jobs.map((one) => one.id));
    for (const expected of [0, 1, 2]) {
      expect((await claimed(db.sql, 'thousand')).payload).toBe(expected);
    }
    const tooMany = [...jobs, newJob()];
    await expect(enqueueBatch(db.sql, { jobs: tooMany, actor: 'shop' })).rejects.toMatchObject({
      code: 'invalid_request',
    });
    await expect(enqueueBatch(db.sql, { jobs: [], actor: 'shop' })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });

  test('one id twice in a batch is one job', async () => {
    const job = newJob({ queue: 'twice' });
    const added = await enqueueBatch(db.sql, { jobs: [job, job], actor: 'shop' });
    expect(added).toHaveLength(2);
    expect(await eventTypes(db.pool, job.id)).toEqual(['created']);
  });

  test.each([
    ['id', { id: '6ba7b810-9dad-41d1-80b4-00c04fd430c8' }, /version 7/],
    ['id', { id: uuidv7().replace(/^.{8}/, '01000000') }, /within a day/],
    ['queue', { queue: '' }, /1 to 128/],
    ['queue', { queue: ' x' }, /white space/],
    ['queue', { queue: '..' }, /"\.\."/],
    ['queue', { queue: 'q'.repeat(129) }, /1 to 128/],
    ['type', { type: 'a\u0007' }, /control/],
    ['delay_ms', { delayMs: -1 }, /between 0 and/],
    ['due_at', { dueAt: '2999-01-01T00:00:00Z' }, /366 days/],
    ['max_attempts', { maxAttempts: 0 }, /between 1 and 100/],
    ['max_attempts', { maxAttempts: 101 }, /between 1 and 100/],
    ['schema_version', { schemaVersion: 0 }, /between 1 and/],
  ])('refuses a bad %s by name and writes nothing', async (field, change, rule) => {
    const before = await count('jobs');
    const attempt = enqueue(db.sql, { job: newJob(change), actor: 'shop' });
    await expect(attempt).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(attempt).rejects.toThrow(new RegExp(`jobs\\[0\\]\\.${field}: `));
    await expect(attempt).rejects.toThrow(rule);
    expect(await count('jobs')).toBe(before);
  });

  test('case L3 long names that share a prefix, quotes and emoji are data and never collide', async () => {
    const names = [
      'image-worker',
      'q'.repeat(63),
      'q'.repeat(64),
      'q'.repeat(128),
      `"; drop table leasehold.jobs; --'`,
      '🦖🦕',
      '../x',
      '%00',
    ];
    for (const queue of names) {
      const job = newJob({ queue });
      await enqueue(db.sql, { job, actor: 'shop' });
      expect((await claimed(db.sql, queue)).jobId).toBe(job.id);
    }
  });

  test('case H7 a due time in the past means now, and one ahead is kept to the instant', async () => {
    const past = await enqueue(db.sql, {
      job: newJob({ dueAt: '2020-01-01T00:00:00Z' }),
      actor: 'shop',
    });
    expect(past.dueAt.getTime()).toBeGreaterThanOrEqual(past.createdAt.getTime());
    const dueAt = new Date(past.createdAt.getTime() + 3_600_000).toISOString();
    const ahead = await enqueue(db.sql, {
      job: newJob({ dueAt: dueAt.replace('Z', '+00:00') }),
      actor: 'shop',
    });
    expect(ahead.dueAt.toISOString()).toBe(dueAt);
  });
});

describe('leasehold.enqueue', () => {
  test('a producer in any language adds a job inside its own transaction', async () => {
    const client = await db.pool.connect();
    try {
      await client.query('begin');
      const { rows } = await client.query(
        `select * from leasehold.enqueue(leasehold.new_job_id(), 'sql', 'email.send', '{"to": "x"}', p_priority => 'urgent')`,
      );
      const { job_id: jobId } = rows[0] as { job_id: string };
      await client.query('rollback');
      expect(await getJob(db.sql, { jobId })).toBeUndefined();
      await client.query('begin');
      await client.query(`select leasehold.enqueue($1, 'sql', 'email.send', '{"to": "x"}', 5000)`, [
        jobId,
      ]);
      await client.query('commit');
      expect(await getJob(db.sql, { jobId })).toMatchObject({
        state: 'pending',
        waiting_for: 'time',
      });
    } finally {
      client.release();
    }
  });
});

describe('leasehold.new_job_id, job_id_time, job_id_floor, priority_lane, lane_priority, iso', () => {
  test('ids made in SQL are version 7 and carry the database time', async () => {
    const { rows } = await db.pool.query(
      `select id::text, abs(extract(epoch from leasehold.job_id_time(id) - clock_timestamp())) < 5 as fresh,
         leasehold.job_id_floor(leasehold.job_id_time(id)) <= id as above_floor
       from (select leasehold.new_job_id() as id from generate_series(1, 50)) ids`,
    );
    for (const row of rows as { id: string; fresh: boolean; above_floor: boolean }[]) {
      expect(row.id).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
      expect(row).toMatchObject({ fresh: true, above_floor: true });
    }
    const { rows: times } = await db.pool.query(
      `select leasehold.job_id_time('017f22e2-79b0-7cc3-98c4-dc0c0c07398f') as rfc_9562,
         leasehold.job_id_time(gen_random_uuid()) as version_4,
         leasehold.iso('2022-02-22 14:22:22-05') as iso,
         leasehold.lane_priority(leasehold.priority_lane('low')) as low,
         leasehold.priority_lane('soon') as unknown`,
    );
    expect(times[0]).toEqual({
      rfc_9562: new Date('2022-02-22T19:22:22Z'),
      version_4: null,
      iso: '2022-02-22T19:22:22.000Z',
      low: 'low',
      unknown: null,
    });
  });
});
