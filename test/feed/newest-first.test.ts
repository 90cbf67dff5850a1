/** The event log read backwards: the forward read turned round, with what is not settled yet. */
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { jobEventsBefore } from '../../shared/queue/job-events-before.ts';
import type { JobEventsBeforeInput } from '../../shared/queue/job-events-before.ts';
import { jobEventsSince } from '../../shared/queue/job-events-since.ts';
import type { LogEvent } from '../../shared/queue/log-event.ts';
import { setQueuePaused } from '../../shared/queue/set-queue-paused.ts';
import { createAppHarness } from '../routes/support/app-harness.ts';
import { added, claimed } from '../sql/support/lease-core.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

/** The whole log backwards, and how many pages it took. */
async function backwards(
  query: JobEventsBeforeInput,
): Promise<{ readonly events: LogEvent[]; readonly pages: number }> {
  const events: LogEvent[] = [];
  let { cursor } = query;
  for (let pages = 1; ; pages += 1) {
    const page = await jobEventsBefore(db.sql, {
      ...query,
      ...(cursor === undefined ? {} : { cursor }),
    });
    events.push(...page.events);
    cursor = page.nextCursor;
    if (cursor === undefined) return { events, pages };
  }
}

describe('leasehold.job_events_before, from leasehold.newest_log', () => {
  test('S2.6 is the log turned round, whatever the size of a page: each event of jobs and queues once', async () => {
    for (const name of ['one', 'two', 'three']) {
      await added(db.sql, { queue: name });
      await setQueuePaused(db.sql, { queue: name, paused: true, actor: 'maria', reason: 'x' });
      await setQueuePaused(db.sql, { queue: name, paused: false, actor: 'maria' });
      await claimed(db.sql, name, 'agent');
    }
    // Both logs in one transaction.
    await db.pool.query(`select leasehold.enqueue(leasehold.new_job_id(), 'both', 't', '1'),
      leasehold.set_queue_paused('one', true, 'maria', null)`);
    // Another transaction of the server may hold the horizon back for a moment.
    const forwards = async (): Promise<LogEvent[]> =>
      (await jobEventsSince(db.sql, { limit: 200 })).events.toReversed();
    await expect.poll(async () => (await forwards()).length).toBeGreaterThanOrEqual(14);
    for (const limit of [1, 3, 200]) {
      expect((await backwards({ limit })).events).toEqual(await forwards());
    }
  });

  test('tells at once what lies above a running transaction, without a cursor', async () => {
    const holder = await db.pool.connect();
    await holder.query('begin');
    const late = uuidv7();
    await holder.query(`select leasehold.enqueue($1, 'held back', 't', '1')`, [late]);
    const early = await added(db.sql, { queue: 'early' });
    const [first] = (await jobEventsBefore(db.sql, { limit: 1 })).events;
    expect(first).toMatchObject({ job_id: early, cursor: null });
    // Its place leads on to what is older all the same.
    const whole = await backwards({ limit: 1 });
    expect(whole.events.map(({ job_id: id }) => id)).not.toContain(late);
    expect(whole.events.at(-1)?.cursor).not.toBeNull();
    await holder.query('commit');
    holder.release();
    const { events } = await jobEventsBefore(db.sql, { limit: 2 });
    expect(events.map(({ job_id: id }) => id)).toEqual([early, late]);
  });

  test('filters by queue, actor and type; a rare one is searched a bounded way at a time', async () => {
    const id = await added(db.sql, { queue: 'rare' });
    await claimed(db.sql, 'rare', 'agent-9');
    for (const count of [1000, 1000, 500]) {
      await db.pool.query(
        `select leasehold.enqueue_batch((
           select jsonb_agg(jsonb_build_object('id', leasehold.new_job_id(), 'queue', 'crowd', 'type', 't', 'payload', 1))
           from generate_series(1, $1)
         ), 'test')`,
        [count],
      );
    }
    const first = await jobEventsBefore(db.sql, { limit: 50, queue: 'rare' });
    expect(first.events).toEqual([]);
    const cursor = first.nextCursor ?? '';
    const second = await jobEventsBefore(db.sql, { cursor, limit: 50, queue: 'rare' });
    expect(second.nextCursor).toBeUndefined();
    const found = second.events.map(({ type, job_id: jobId }) => [type, jobId]);
    expect(found).toEqual([
      ['claimed', id],
      ['created', id],
    ]);
    const typesOf = async (filter: object): Promise<string[]> =>
      (await backwards({ limit: 50, ...filter })).events.map(({ type }) => type);
    expect(await typesOf({ actor: 'agent-9' })).toEqual(['claimed']);
    expect(await typesOf({ queue: 'rare', type: 'created' })).toEqual(['created']);
    expect(await typesOf({ queues: ['rare'] })).toEqual(['claimed', 'created']);
    expect(await typesOf({ queues: ['rare'], queue: 'crowd' })).toEqual([]);
    const [newest] = (await jobEventsBefore(db.sql, { limit: 1 })).events;
    const one = await jobEventsBefore(db.sql, { limit: 1, type: 'claimed', queue: 'rare' });
    expect(newest?.queue).toBe('crowd');
    expect(one.events).toEqual([]);
  });

  test('refuses what is no cursor, one of another database, and a limit out of range', async () => {
    for (const cursor of ['x', '1_j', '1_x1', '999999999999_j1']) {
      await expect(jobEventsBefore(db.sql, { cursor, limit: 1 })).rejects.toMatchObject({
        code: 'invalid_request',
        problems: [{ path: 'cursor' }],
      });
    }
    for (const limit of [0, 201]) {
      await expect(jobEventsBefore(db.sql, { limit })).rejects.toMatchObject({
        code: 'invalid_request',
        problems: [{ path: 'limit' }],
      });
    }
  });
});

test('GET /v1/events with order=newest: the newest first, of the queues that the token is for', async () => {
  const app = await createAppHarness();
  try {
    const job = { queue: 'mine', type: 't', payload: 1 };
    await app.call('POST', '/v1/jobs', { body: job });
    await app.call('POST', '/v1/jobs', { body: { ...job, queue: 'theirs' } });
    await app.call('POST', '/v1/queues/mine/pause', { body: {} });
    const read = async (query: string, options = {}): Promise<unknown> =>
      (await app.call('GET', `/v1/events?order=newest${query}`, options)).body;
    expect(await read('')).toMatchObject({
      events: [{ type: 'paused' }, { queue: 'theirs' }, { type: 'created', queue: 'mine' }],
      next_cursor: null,
      more: false,
    });
    const first = (await read('&limit=1')) as { readonly next_cursor: string };
    expect(first).toMatchObject({ events: [{ type: 'paused' }], more: true });
    expect(await read(`&limit=1&cursor=${first.next_cursor}`)).toMatchObject({
      events: [{ queue: 'theirs' }],
      more: true,
    });
    const limited = { queues: ['mine'] };
    expect(await read('', limited)).toMatchObject({
      events: [{ type: 'paused' }, { type: 'created', queue: 'mine' }],
    });
    expect((await app.call('GET', '/v1/events?order=newest&queue=theirs', limited)).status).toBe(
      403,
    );
    expect((await app.call('GET', '/v1/events?order=up')).body).toMatchObject({
      code: 'invalid_request',
      detail: expect.stringContaining('order') as unknown,
    });
  } finally {
    await app.close();
  }
});
