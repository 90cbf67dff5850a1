/** Routines that only other routines call: what each promises by itself. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { configureQueue } from '../../shared/queue/configure-queue.ts';
import { complete } from '../../shared/queue/complete.ts';
import { getQueue } from '../../shared/queue/get-queue.ts';
import { listQueues } from '../../shared/queue/list-queues.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { added, claimed, expireLease } from './support/lease-core.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

/** The one value that a statement gives. */
async function value(text: string, values: unknown[] = []): Promise<unknown> {
  const { rows } = await db.pool.query<Record<string, unknown>>(text, values);
  return Object.values(rows[0] ?? {})[0];
}

describe('leasehold.key_lock_id', () => {
  test('tells kinds, queues and keys apart, also those that join to the same text', async () => {
    const ids = await Promise.all(
      [
        ['ordering', 'ab', 'c'],
        ['ordering', 'a', 'bc'],
        ['dedup', 'ab', 'c'],
        ['ordering', '2:ab', 'c'],
      ].map((of) => value('select leasehold.key_lock_id($1, $2, $3)::text', of)),
    );
    expect(new Set(ids).size).toBe(4);
    expect(
      await value('select leasehold.key_lock_id($1, $2, $3)::text', ['dedup', 'ab', 'c']),
    ).toBe(ids[2]);
  });
});

describe('leasehold.name_problem, tags_problem, setting_problem, new_job_problem', () => {
  test('name the field and its rule, or nothing', async () => {
    expect(await value(`select leasehold.name_problem('queue', 'emails')`)).toBeNull();
    expect(await value(`select leasehold.name_problem('queue', null)`)).toMatch(
      /^queue: give 1 to 128/,
    );
    expect(await value(`select leasehold.tags_problem('["a", "b"]')`)).toBeNull();
    expect(await value(`select leasehold.tags_problem('"a"')`)).toMatch(/^tags: give an array/);
    expect(await value(`select leasehold.tags_problem('[1]')`)).toMatch(
      /^tags: each must be a text/,
    );
    const tags = JSON.stringify(Array.from({ length: 21 }, (_, i) => `t${i}`));
    expect(await value('select leasehold.tags_problem($1)', [tags])).toMatch(/at most 20/);
    expect(
      await value('select leasehold.tags_problem($1)', [JSON.stringify(['t'.repeat(101)])]),
    ).toMatch(/1 to 100/);
    expect(
      await value(`select leasehold.new_job_problem(now(), leasehold.new_job_id(), 'q', 't', '1', 0, null, null, null, null,
        null, '{}', 1, null, null, null, null, null)`),
    ).toBeNull();
    expect(
      await value(`select leasehold.new_job_problem(now(), leasehold.new_job_id(), 'q', 't', '1', 0, null, null, null, null,
        null, '{}', 1, null, null, 'merge', null, null)`),
    ).toBe('on_duplicate: must be return or replace');
  });

  test.each([
    ['{"weight": 0}', /^weight: must be a whole number between 1 and 100$/],
    ['{"weight": 1.5}', /^weight: must be a whole number/],
    ['{"weight": "5"}', /^weight: must be a whole number/],
    ['{"weight": null}', /^weight: cannot be removed$/],
    ['{"on_dead": "explode"}', /^on_dead: must be block or continue$/],
    ['{"on_exhausted": "explode"}', /^on_exhausted: must be dead or escalate$/],
    ['{"escalate_after": 0}', /^escalate_after: must be a whole number between 1 and 100$/],
    ['{"escalate_after": null}', /^escalate_after: cannot be removed$/],
    ['{"delivery": 1}', /^delivery: must be handler, push or pull$/],
    ['{"target_url": ""}', /^target_url: give 1 to 2000 characters$/],
    ['{"paused_at": null}', /^paused_at: /],
    ['{"name": "other"}', /^name: is no setting of a queue$/],
    ['[]', /^settings: give an object$/],
  ])('settings %s are refused', async (settings, rule) => {
    expect(await value('select leasehold.setting_problem($1)', [settings])).toMatch(rule);
    await expect(
      db.pool.query('select leasehold.configure_queue($1, $2)', ['bad', settings]),
    ).rejects.toMatchObject({
      code: 'LH001',
    });
    expect(await getQueue(db.sql, { queue: 'bad' })).toBeUndefined();
  });
});

describe('leasehold.check_settling', () => {
  test('raises by name and is silent when all is well', async () => {
    await db.pool.query(`select leasehold.check_settling('["x"]', 'r', 'a')`);
    await expect(db.pool.query(`select leasehold.check_settling('"x"', 'r', 'a')`)).rejects.toThrow(
      /job_ids/,
    );
    await expect(
      db.pool.query(`select leasehold.check_settling('["x"]', null, 'a')`),
    ).rejects.toThrow(/reason/);
    await expect(
      db.pool.query(`select leasehold.check_settling('["x"]', 'r', null)`),
    ).rejects.toThrow(/actor/);
  });
});

describe('leasehold.take_lease and leasehold.ended_attempt', () => {
  test.each([undefined, 'A'])(
    'lock the row of a lease that holds (ordering key %s), and only then',
    async (orderingKey) => {
      const queue = `take ${orderingKey}`;
      const jobId = await added(db.sql, { queue, ...(orderingKey && { orderingKey }) });
      const job = await claimed(db.sql, queue);
      const take = 'select (leasehold.take_lease($1, $2, $3)).job_id';
      const client = await db.pool.connect();
      try {
        await client.query('begin');
        expect((await client.query(take, [jobId, job.owner, job.fencingToken])).rows).toEqual([
          { job_id: jobId },
        ]);
        const free = `select 1 from leasehold.job_state where job_id = $1 for update skip locked`;
        expect((await db.pool.query(free, [jobId])).rows).toEqual([]);
        await client.query('commit');
      } finally {
        client.release();
      }
      expect(await value(take, [jobId, 'someone else', job.fencingToken])).toBeNull();
      expect(await value(take, [jobId, job.owner, '9'])).toBeNull();
      const ended = `select next_state from leasehold.ended_attempt($1, $2, $3, 'succeeded')`;
      expect(await value(ended, [jobId, job.owner, job.fencingToken])).toBeUndefined();
      await complete(db.sql, job);
      expect(await value(ended, [jobId, job.owner, job.fencingToken])).toBe('succeeded');
      expect(await value(take, [jobId, job.owner, job.fencingToken])).toBeNull();
    },
  );

  test('an expired lease is not taken', async () => {
    const jobId = await added(db.sql, { queue: 'take expired' });
    const job = await claimed(db.sql, 'take expired');
    await expireLease(db.pool, jobId);
    expect(
      await value('select (leasehold.take_lease($1, $2, $3)).job_id', [
        jobId,
        job.owner,
        job.fencingToken,
      ]),
    ).toBeNull();
  });
});

describe('leasehold.unpark', () => {
  test('lets go as many as the key has room for, and says how many', async () => {
    for (let i = 0; i < 4; i += 1) await added(db.sql, { queue: 'unpark', orderingKey: 'A' });
    const unpark = `select leasehold.unpark('unpark', 'A', 'test')`;
    expect(await value(unpark)).toBe(0);
    await configureQueue(db.sql, {
      queue: 'unpark',
      settings: { key_concurrency: 3 },
      actor: 'test',
    });
    expect(await value(unpark)).toBe(2);
    expect(await value(unpark)).toBe(0);
    expect(await value(`select leasehold.unpark('unpark', 'nobody', 'test')`)).toBe(0);
  });
});

describe('leasehold.starts_left and leasehold.key_start_at', () => {
  const left = (queue: string) =>
    value('select leasehold.starts_left(q) from leasehold.queues q where q.name = $1', [queue]);

  test('a queue without limits has no number, one with limits the smaller of what is left', async () => {
    await configureQueue(db.sql, { queue: 'left', settings: {}, actor: 'test' });
    expect(await left('left')).toBeNull();
    await configureQueue(db.sql, {
      queue: 'left',
      settings: { concurrency_limit: 4, rate_limit: 3 },
      actor: 'test',
    });
    expect(await left('left')).toBe(3);
    await added(db.sql, { queue: 'left' });
    await claimed(db.sql, 'left');
    expect(await left('left')).toBe(2);
    await configureQueue(db.sql, {
      queue: 'left',
      settings: { concurrency_limit: 1 },
      actor: 'test',
    });
    expect(await left('left')).toBe(0);
  });

  test('starts of a key are put off to where the interval has room', async () => {
    await configureQueue(db.sql, {
      queue: 'start',
      settings: { key_rate_limit: 2, key_rate_interval_ms: 60_000 },
      actor: 'test',
    });
    const starts = [];
    for (let i = 0; i < 5; i += 1) {
      const start = await value(
        `select extract(epoch from leasehold.key_start_at(q, 'A', '2026-01-01T00:00:00Z') - '2026-01-01T00:00:00Z')::int
         from leasehold.queues q where q.name = 'start'`,
      );
      starts.push(start);
      await db.pool.query(
        `insert into leasehold.rate_starts (queue, key, at)
         values ('start', 'A', '2026-01-01T00:00:00Z'::timestamptz + make_interval(secs => $1))`,
        [start],
      );
    }
    expect(starts).toEqual([0, 0, 60, 60, 120]);
  });
});

describe('leasehold.list_queues and leasehold.queue_document', () => {
  test('pages through queues by name, each once, with settings', async () => {
    for (const queue of ['z1', 'z2', 'z3'])
      await configureQueue(db.sql, { queue, settings: { weight: 7 }, actor: 'test' });
    const names: string[] = [];
    let cursor: string | null = 'z';
    do {
      const page: Awaited<ReturnType<typeof listQueues>> = await listQueues(db.sql, {
        limit: 2,
        cursor,
      });
      names.push(...page.queues.map((queue) => queue.name));
      expect(page.queues.every((queue) => queue.weight === 7 && queue.paused === null)).toBe(true);
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(names).toEqual(['z1', 'z2', 'z3']);
    for (const limit of [0, 201])
      await expect(listQueues(db.sql, { limit })).rejects.toThrow(/limit: must be/);
  });
});

describe('leasehold.live_queues and is_served', () => {
  test('each queue with live jobs once, in order, and none without', async () => {
    const before = await db.pool.query<{ queue: string }>(
      'select leasehold.live_queues() as queue',
    );
    await configureQueue(db.sql, { queue: 'live: none', settings: {}, actor: 'test' });
    await added(db.sql, { queue: 'live: b' });
    await added(db.sql, { queue: 'live: a' });
    await added(db.sql, { queue: 'live: a' });
    const { rows } = await db.pool.query<{ queue: string }>(
      'select leasehold.live_queues() as queue',
    );
    const names = rows.map(({ queue }) => queue);
    expect(names).toHaveLength(before.rows.length + 2);
    expect(names.filter((name) => name.startsWith('live: '))).toEqual(['live: a', 'live: b']);
  });

  test.each([
    ['push', '["other"]', true],
    ['pull', null, false],
    ['handler', null, true],
    ['handler', '["other"]', false],
    [null, '["q"]', true],
  ])('delivery %s, served %s: %s', async (delivery, served, expected) => {
    expect(
      await value('select leasehold.is_served($1, $2, $3::jsonb)', ['q', delivery, served]),
    ).toBe(expected);
  });
});
