import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { complete } from '../../shared/queue/complete.ts';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { enqueueBatch } from '../../shared/queue/enqueue-batch.ts';
import { fail } from '../../shared/queue/fail.ts';
import { getJob } from '../../shared/queue/get-job.ts';
import { listJobs } from '../../shared/queue/list-jobs.ts';
import { readSchemaVersion, SCHEMA_VERSION } from '../../shared/queue/schema-version.ts';
import { MAX_SHOWN_ATTEMPTS } from '../../shared/limits.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { added, claimed, expireLease, newJob } from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

describe('leasehold.get_job and leasehold.job_document', () => {
  test('an unknown id is no job', async () => {
    expect(await getJob(db.sql, { jobId: uuidv7() })).toBeUndefined();
  });

  test('a running job shows its lease, and one whose lease ran out is pending again', async () => {
    const jobId = await added(db.sql, { queue: 'shown', headers: { traceparent: 't' } });
    const lease = await claimed(db.sql, 'shown');
    const running = await getJob(db.sql, { jobId });
    expect(running).toMatchObject({
      state: 'running',
      headers: { traceparent: 't' },
      lease: {
        owner: 'worker-a',
        fencing_token: '1',
        expires_at: lease.leaseExpiresAt.toISOString(),
      },
    });
    await expireLease(db.pool, jobId);
    expect(await getJob(db.sql, { jobId })).toMatchObject({
      state: 'pending',
      waiting_for: null,
      lease: null,
    });
  });

  test('shows the newest attempts, up to a bound, and where the earlier ones are', async () => {
    const jobId = await added(db.sql, { queue: 'often' });
    const attempt = async (token: number): Promise<void> => {
      await db.pool.query(
        `insert into leasehold.attempts
           (job_id, fencing_token, attempt, owner, started_at, ended_at, outcome, next_state)
         values ($1, $2, 0, 'worker-a', now(), now(), 'snoozed', 'pending')`,
        [jobId, token],
      );
    };
    for (let token = 1; token <= MAX_SHOWN_ATTEMPTS; token += 1) await attempt(token);
    const whole = await getJob(db.sql, { jobId });
    expect(whole?.attempts).toHaveLength(MAX_SHOWN_ATTEMPTS);
    expect(whole?.earlier_attempts).toBeNull();
    await attempt(MAX_SHOWN_ATTEMPTS + 1);
    const cut = await getJob(db.sql, { jobId });
    expect(cut?.attempts.map(({ fencing_token: token }) => Number(token))).toEqual(
      Array.from({ length: MAX_SHOWN_ATTEMPTS }, (_, i) => i + 2),
    );
    expect(cut?.earlier_attempts).toBe(`/v1/jobs/${jobId}/events`);
  });

  test('case H7 instants carry an offset and agree whatever the session time zone is', async () => {
    const jobId = await added(db.sql, { queue: 'zones', dueAt: '2026-12-24T18:30:00+02:00' });
    const seen = [];
    for (const zone of ['UTC', 'Asia/Kolkata', 'America/New_York']) {
      const client = await db.pool.connect();
      try {
        await client.query(`set timezone = '${zone}'`);
        const { rows } = await client.query('select leasehold.get_job($1) as job', [jobId]);
        seen.push((rows[0] as { job: { due_at: string } }).job.due_at);
        await client.query('reset timezone');
      } finally {
        client.release();
      }
    }
    expect(new Set(seen)).toEqual(new Set(['2026-12-24T16:30:00.000Z']));
  });
});

describe('leasehold.list_jobs', () => {
  test('pages through filtered jobs, newest first, each once', async () => {
    await enqueueBatch(db.sql, {
      jobs: Array.from({ length: 7 }, (_, i) => newJob({ queue: 'list', payload: i })),
      actor: 'test',
    });
    await complete(db.sql, await claimed(db.sql, 'list'));
    const dead = await claimed(db.sql, 'list');
    await fail(db.sql, { ...dead, error: { code: 'x', message: 'X.' }, failureClass: 'permanent' });
    await claimed(db.sql, 'list');
    const states = async (state: 'pending' | 'running' | 'succeeded' | 'dead'): Promise<number> =>
      (await listJobs(db.sql, { queue: 'list', state, limit: 200 })).jobs.length;
    expect([
      await states('pending'),
      await states('running'),
      await states('succeeded'),
      await states('dead'),
    ]).toEqual([4, 1, 1, 1]);
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await listJobs(db.sql, { queue: 'list', limit: 3, ...(cursor && { cursor }) });
      ids.push(...page.jobs.map((job) => job.id));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(ids).toHaveLength(7);
    expect(ids).toEqual([...ids].sort().reverse());
    expect((await listJobs(db.sql, { queue: 'list', limit: 1 })).jobs[0]).not.toHaveProperty(
      'payload',
    );
  });

  test('a rare filter is searched a bounded way at a time, with a cursor to go on', async () => {
    const rare = await added(db.sql, { queue: 'rare' });
    for (let i = 0; i < 3; i += 1) {
      await enqueueBatch(db.sql, {
        jobs: Array.from({ length: 1000 }, () => newJob({ queue: 'common' })),
        actor: 'test',
      });
    }
    const first = await listJobs(db.sql, { queue: 'rare', limit: 10 });
    expect(first.jobs).toEqual([]);
    expect(first.nextCursor).not.toBeNull();
    const second = await listJobs(db.sql, {
      queue: 'rare',
      limit: 10,
      cursor: first.nextCursor ?? '',
    });
    expect(second.jobs.map((job) => job.id)).toEqual([rare]);
    expect(second.nextCursor).toBeNull();
  });

  test('limit and state are refused by name when out of range', async () => {
    for (const limit of [0, 201])
      await expect(listJobs(db.sql, { limit })).rejects.toThrow(/limit/);
    await expect(
      db.pool.query(`select leasehold.list_jobs('{"state": "lost"}', 1, null)`),
    ).rejects.toThrow(/state/);
  });
});

describe('leasehold.configure_queue', () => {
  test('changes what is given, keeps the rest, and names a value out of range', async () => {
    await configureQueue(db.sql, {
      queue: 'settings',
      settings: { lease_seconds: 77 },
      actor: 'test',
    });
    await configureQueue(db.sql, {
      queue: 'settings',
      settings: { max_attempts: 9, backoff_base_ms: 0, backoff_cap_ms: 1 },
      actor: 'test',
    });
    const { rows } = await db.pool.query(`select * from leasehold.queues where name = 'settings'`);
    expect(rows[0]).toMatchObject({
      lease_seconds: 77,
      max_attempts: 9,
      max_run_seconds: 900,
      backoff_cap_ms: '1',
    });
    for (const bad of [
      { lease_seconds: 0 },
      { lease_seconds: 3601 },
      { max_attempts: 0 },
      { max_run_seconds: 86_401 },
    ]) {
      const [field] = Object.keys(bad);
      await expect(
        configureQueue(db.sql, { queue: 'settings', settings: { ...bad }, actor: 'test' }),
      ).rejects.toThrow(`${field}: must be a whole number between`);
    }
    await expect(
      configureQueue(db.sql, { queue: '', settings: {}, actor: 'test' }),
    ).rejects.toThrow(/^queue: give 1 to 128/);
  });
});

describe('leasehold.schema_version', () => {
  test('says which migration the database has and which code it still serves', async () => {
    expect(await readSchemaVersion(db.sql)).toEqual({ version: SCHEMA_VERSION, oldestCode: 2 });
  });
});

describe('leasehold.ensure_partitions', () => {
  test('every live week has its own partition, and a second call makes none', async () => {
    const { rows } = await db.pool.query(
      `select relname from pg_class where relnamespace = 'leasehold'::regnamespace and relispartition and relkind = 'r'`,
    );
    for (const table of ['attempts', 'finished_jobs', 'job_events']) {
      const weeks = rows.filter(({ relname }: { relname: string }) =>
        new RegExp(`^${table}_\\d{8}$`).test(relname),
      );
      expect(weeks.length).toBeGreaterThanOrEqual(15);
    }
    const { rows: again } = await db.pool.query('select leasehold.ensure_partitions(14) as made');
    expect(again).toEqual([{ made: 0 }]);
    const jobId = await added(db.sql, { queue: 'partitioned' });
    const { rows: where } = await db.pool.query(
      'select tableoid::regclass::text as partition from leasehold.job_events where job_id = $1',
      [jobId],
    );
    expect((where[0] as { partition: string }).partition).toMatch(/job_events_\d{8}$/);
  });

  test('a week whose rows already lie in the default partition is left there, and nothing fails', async () => {
    const far = `leasehold.job_id_floor(date_trunc('week', now(), 'UTC') + interval '22 weeks 1 hour')`;
    await db.pool.query(
      `insert into leasehold.job_events (job_id, type, actor) values (${far}, 'created', 'test')`,
    );
    const { rows } = await db.pool.query('select leasehold.ensure_partitions(22) as made');
    // Eight further weeks for three tables, but one of job_events stays in the default partition.
    expect(rows).toEqual([{ made: 23 }]);
  });
});
