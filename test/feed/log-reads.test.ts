/** Reads of the event log: nothing that commits late is skipped, nobody is held up, and no read walks history. */
import type pg from 'pg';
import { uuidv7 } from 'uuidv7';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { jobEventsSince } from '../../shared/queue/job-events-since.ts';
import { jobHistory } from '../../shared/queue/job-history.ts';
import { logChanges } from '../../shared/queue/log-changes.ts';
import type { LogChangesPage, LogPlace } from '../../shared/queue/log-changes.ts';
import type { LogEvent } from '../../shared/queue/log-event.ts';
import { setQueuePaused } from '../../shared/queue/set-queue-paused.ts';
import { added, claimed } from '../sql/support/lease-core.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

/** Ends of transactions that are open. */
const open = new Set<(how: 'rollback') => Promise<void>>();
afterEach(async () => {
  for (const end of open) await end('rollback');
});

interface OpenEnqueue {
  readonly id: string;
  end(how: 'commit' | 'rollback'): Promise<void>;
}

/** A producer that has added a job and not committed it. */
async function openEnqueue(queue: string): Promise<OpenEnqueue> {
  const client: pg.PoolClient = await db.pool.connect();
  const id = uuidv7();
  await client.query('begin');
  // A queue of its own: one that is new is made with its first job, and others wait for that.
  await client.query(`select leasehold.enqueue($1, $2, 't', '1')`, [id, `${queue} ${id}`]);
  const end = async (how: 'commit' | 'rollback'): Promise<void> => {
    if (!open.delete(end)) return;
    await client.query(how);
    client.release();
  };
  open.add(end);
  return { id, end };
}

async function addMany(queue: string, count: number): Promise<void> {
  await db.pool.query(
    `select leasehold.enqueue_batch((
       select jsonb_agg(jsonb_build_object('id', leasehold.new_job_id(), 'queue', $1::text, 'type', 't', 'payload', 1))
       from generate_series(1, $2)
     ), 'test')`,
    [queue, count],
  );
}

/** Where the log ends, once all of it is settled: a transaction of another test may hold it back. */
async function place(): Promise<LogPlace> {
  for (;;) {
    const { place: end, unsettled } = await logChanges(db.sql, { limit: 1 });
    if (!unsettled) return end;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Reads until so many settled events have come. */
async function settled(cursor: string, count: number): Promise<LogEvent[]> {
  for (;;) {
    const { events } = await readOn(cursor);
    if (events.length >= count) return events;
  }
}

/** Reads on until nothing is left, as a reader with a cursor does. */
async function readOn(cursor: string): Promise<{ events: LogEvent[]; cursor: string }> {
  const events: LogEvent[] = [];
  for (let at = cursor; ;) {
    const page = await jobEventsSince(db.sql, { cursor: at, limit: 200 });
    events.push(...page.events);
    at = page.nextCursor ?? at;
    if (!page.more) return { events, cursor: at };
  }
}

/** The same for a live feed. */
async function followOn(from: LogPlace): Promise<{ events: LogEvent[]; place: LogPlace }> {
  const events: LogEvent[] = [];
  for (let at = from; ;) {
    const page: LogChangesPage = await logChanges(db.sql, { place: at, limit: 200 });
    events.push(...page.events);
    at = page.place;
    if (!page.more) return { events, place: at };
  }
}

const ids = (events: readonly LogEvent[]): (string | null)[] => events.map((event) => event.job_id);

describe('leasehold.job_events_since', () => {
  test.each(['commit', 'rollback'] as const)(
    'S2.6 skips nothing that commits late: a transaction that was open meanwhile ends by %s',
    async (how) => {
      const start = await place();
      const late = await openEnqueue('late');
      const later = await added(db.sql, { queue: 'late' });
      const before = await readOn(start.cursor);
      expect(before.events).toEqual([]);
      await late.end(how);
      await expect
        .poll(async () => ids((await readOn(before.cursor)).events))
        .toEqual(how === 'commit' ? [late.id, later] : [later]);
    },
  );

  test('tells of jobs and queues in one order, each once, whatever the size of a page', async () => {
    const { cursor } = await place();
    const id = await added(db.sql, { queue: 'mixed' });
    await setQueuePaused(db.sql, { queue: 'mixed', paused: true, actor: 'maria', reason: 'x' });
    await setQueuePaused(db.sql, { queue: 'mixed', paused: false, actor: 'maria' });
    await claimed(db.sql, 'mixed', 'agent');
    const whole = await settled(cursor, 4);
    expect(whole.map(({ type, job_id: jobId }) => [type, jobId])).toEqual([
      ['created', id],
      ['paused', null],
      ['resumed', null],
      ['claimed', id],
    ]);
    const one: LogEvent[] = [];
    for (let at = cursor; ;) {
      const page = await jobEventsSince(db.sql, { cursor: at, limit: 1 });
      one.push(...page.events);
      at = page.nextCursor ?? at;
      if (!page.more) break;
    }
    expect(one).toEqual(whole);
  });

  test('filters by queue, actor and type; a rare one is searched a bounded way at a time', async () => {
    const { cursor } = await place();
    for (const count of [1000, 1000, 500]) await addMany('crowd', count);
    const id = await added(db.sql, { queue: 'rare' });
    await claimed(db.sql, 'rare', 'agent-9');
    await settled(cursor, 2502);
    const first = await jobEventsSince(db.sql, { cursor, limit: 50, queue: 'rare' });
    expect(first).toMatchObject({ events: [], more: true });
    const second = await jobEventsSince(db.sql, {
      cursor: first.nextCursor ?? '',
      limit: 50,
      queue: 'rare',
    });
    expect(second).toMatchObject({
      events: [{ type: 'created' }, { type: 'claimed' }],
      more: false,
    });
    const at = first.nextCursor ?? '';
    const typesOf = async (filter: object): Promise<string[]> => {
      const page = await jobEventsSince(db.sql, { cursor: at, limit: 50, ...filter });
      return page.events.map(({ type }) => type);
    };
    expect(await typesOf({ actor: 'agent-9' })).toEqual(['claimed']);
    expect(await typesOf({ type: 'claimed' })).toEqual(['claimed']);
    expect(await typesOf({ queues: ['rare'] })).toEqual(['created', 'claimed']);
    expect(await typesOf({ queues: ['rare'], queue: 'crowd' })).toEqual([]);
    expect((await jobHistory(db.sql, { jobId: id, limit: 200 }))?.events).toEqual(second.events);
  });

  test('leasehold.log_place refuses what is no cursor, and the feed one of another database', async () => {
    for (const cursor of ['x', '1_j', '1_x1', '999999999999_j1']) {
      await expect(jobEventsSince(db.sql, { cursor, limit: 1 })).rejects.toMatchObject({
        code: 'invalid_request',
        problems: [{ path: 'cursor' }],
      });
    }
  });
});

describe('leasehold.log_changes, from leasehold.settled_log and leasehold.early_log', () => {
  test('S2.7 a transaction that stays open holds nobody up, and is not skipped', async () => {
    const start = await place();
    const late = await openEnqueue('open');
    const [first, second] = [
      await added(db.sql, { queue: 'open' }),
      await added(db.sql, { queue: 'open' }),
    ];
    const early = await followOn(start);
    expect(ids(early.events)).toEqual([first, second]);
    expect(early.events.map(({ cursor }) => cursor)).toEqual([null, null]);
    expect(early.place.cursor).toBe(start.cursor);
    // Each early event comes once, however often somebody looks.
    const third = await added(db.sql, { queue: 'open' });
    const more = await followOn(early.place);
    expect(ids(more.events)).toEqual([third]);
    expect(ids((await followOn(more.place)).events)).toEqual([]);
    await late.end('commit');
    const seen: LogEvent[] = [];
    let at = more.place;
    // A transaction of another database of the server may hold the horizon back for a moment.
    await expect
      .poll(async () => {
        const on = await followOn(at);
        seen.push(...on.events);
        at = on.place;
        return new Set(ids(seen.filter(({ cursor }) => cursor !== null)));
      })
      .toEqual(new Set([late.id, first, second, third]));
    const settled = seen.filter(({ cursor }) => cursor !== null);
    expect(settled.map(({ id }) => id)).toEqual([...new Set(settled.map(({ id }) => id))]);
    // What came early comes under the same id.
    expect(settled.map(({ id }) => id)).toEqual(
      expect.arrayContaining(early.events.map(({ id }) => id)),
    );
  });

  test('S2.7 gives a batch that is larger than a page early as well, and what commits between two pages', async () => {
    const start = await place();
    const late = await openEnqueue('big');
    await addMany('big', 450);
    const after = await added(db.sql, { queue: 'big' });
    const page = await logChanges(db.sql, { place: start, limit: 200 });
    expect(page).toMatchObject({ more: true, unsettled: true });
    const between = await added(db.sql, { queue: 'big' });
    const rest = await followOn(page.place);
    // Of a transaction that is larger than a page the rest comes when it is settled; nothing behind it waits for that.
    expect(ids(rest.events)).toEqual(expect.arrayContaining([after, between]));
    await late.end('commit');
    await expect
      .poll(
        async () => (await followOn(start)).events.filter(({ cursor }) => cursor !== null).length,
      )
      .toBe(453);
  });

  test('S2.7 a reader that starts now gets nothing early from before, and one that comes back gets all of it', async () => {
    const start = await place();
    const late = await openEnqueue('back');
    await addMany('back', 450);
    const fresh = await logChanges(db.sql, { limit: 1 });
    expect((await followOn(fresh.place)).events).toEqual([]);
    // By its cursor alone, as a viewer brings it.
    const first = await logChanges(db.sql, { place: { cursor: start.cursor }, limit: 200 });
    expect(first).toMatchObject({ more: true, place: { cursor: start.cursor } });
    const last = await added(db.sql, { queue: 'back' });
    expect(ids((await followOn(first.place)).events)).toContain(last);
    await late.end('rollback');
  });

  test('shows the jobs as they are in the snapshot of the events, without payloads', async () => {
    const start = await place();
    const id = await added(db.sql, { queue: 'snap', payload: { secret: 'not shown' } });
    await claimed(db.sql, 'snap', 'agent');
    const { jobs, events } = await logChanges(db.sql, { place: start, limit: 200 });
    expect(events.map(({ type }) => type)).toEqual(['created', 'claimed']);
    expect(jobs).toMatchObject([{ id, state: 'running', lease: { owner: 'agent' } }]);
    expect(JSON.stringify(jobs)).not.toContain('not shown');
  });
});

describe('leasehold.job_history', () => {
  test('S2.6 tells what happened to a job, by pages, and nothing of a job that is not there', async () => {
    const id = await added(db.sql, { queue: 'told' });
    await claimed(db.sql, 'told', 'agent');
    const first = await jobHistory(db.sql, { jobId: id, limit: 1 });
    expect(first).toMatchObject({ events: [{ type: 'created', actor: 'test' }] });
    const rest = await jobHistory(db.sql, { jobId: id, limit: 2, after: first?.nextAfter ?? '' });
    expect(rest).toMatchObject({ events: [{ type: 'claimed', actor: 'agent' }], nextAfter: null });
    expect(await jobHistory(db.sql, { jobId: uuidv7(), limit: 1 })).toBeUndefined();
    for (const bad of [{ after: 'q1' }, { limit: 0 }, { limit: 201 }]) {
      const input = { jobId: id, limit: 1, ...bad };
      await expect(jobHistory(db.sql, input)).rejects.toMatchObject({ code: 'invalid_request' });
    }
  });
});
