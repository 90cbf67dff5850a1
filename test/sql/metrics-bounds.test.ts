import { afterAll, beforeAll, expect, test } from 'vitest';
import { readMetrics } from '../../shared/queue/metrics.ts';
import { readOverview } from '../../shared/queue/overview.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { added } from './support/lease-core.ts';

const MOST_EVENTS = 10_000;
const APART_MS = 10;

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

/** So many completions of one job, the last one now, each a little before the next. */
async function complete(jobId: string, count: number): Promise<void> {
  await db.pool.query(
    `insert into leasehold.job_events (job_id, at, type, actor, fencing_token)
     select $1, now() - (($2::int - n) * $3::int) * interval '1 millisecond', 'completed', 'test', n
     from generate_series(1, $2::int) n`,
    [jobId, count, APART_MS],
  );
}

test('S1.19 the newest 10,000 events are read, and the window is the time that they cover', async () => {
  const jobId = await added(db.sql, { queue: 'busy' });
  await complete(jobId, MOST_EVENTS - 1);
  const all = await readMetrics(db.sql);
  expect(all.recent.queues['busy']?.transitions).toMatchObject({ completed: MOST_EVENTS - 1 });

  await complete(jobId, MOST_EVENTS);
  const newest = await readMetrics(db.sql);
  expect(newest.recent.queues['busy']?.transitions).toEqual({ completed: MOST_EVENTS });
  const coveredMs = Date.parse(newest.at) - Date.parse(newest.recent.from);
  expect(coveredMs).toBeGreaterThanOrEqual((MOST_EVENTS - 1) * APART_MS);
  expect(coveredMs).toBeLessThan((MOST_EVENTS - 1) * APART_MS + 60_000);

  // Of the same events a series: steps of 2 s, or of 5 s should this take long, for what was a minute each.
  const { queues } = await readOverview(db.sql, { queues: ['busy'] });
  const series = queues[0]?.series;
  expect([2, 5]).toContain(series?.step_seconds);
  expect(series?.succeeded.length).toBeLessThanOrEqual(60);
  const counted = series?.succeeded.reduce((sum, one) => sum + one, 0) ?? 0;
  expect(counted).toBeGreaterThan(MOST_EVENTS * 0.9);
  expect(counted).toBeLessThanOrEqual(MOST_EVENTS);
});

test('S1.19 beyond a hundred queues each is counted less far, and beyond a thousand they are left out', async () => {
  const queues = async (count: number): Promise<void> => {
    await db.pool.query(
      `insert into leasehold.queues (name)
       select 'q' || lpad(n::text, 5, '0') from generate_series(1, $1::int) n on conflict do nothing`,
      [count - 1], // beside the busy one
    );
  };
  await queues(100);
  expect(await readMetrics(db.sql)).toMatchObject({ counted_up_to: 1000, left_out: 0 });
  await queues(125);
  expect(await readMetrics(db.sql)).toMatchObject({ counted_up_to: 800, left_out: 0 });
  await queues(1000);
  expect(await readMetrics(db.sql)).toMatchObject({ counted_up_to: 100, left_out: 0 });
  await queues(1001);
  const metrics = await readMetrics(db.sql);
  expect(metrics.left_out).toBe(1);
  expect(metrics.queues).toHaveLength(1000);

  // The overview tells of 200, the waiting one first whatever its name.
  const overview = await readOverview(db.sql);
  expect(overview.queues).toHaveLength(200);
  expect(overview.queues[0]?.name).toBe('busy');
  expect(overview.left_out).toBe(801);
});
