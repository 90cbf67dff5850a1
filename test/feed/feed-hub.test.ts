/** One reader for all viewers: what they get, what they miss (nothing), and what it costs the database. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import type { ViewerRequest } from '../../functions/feed/live-feed.ts';
import { webClock } from '../../functions/web-ports.ts';
import { MAX_RETURN_MS, MIN_RETURN_MS, STREAM_HEARTBEAT_MS } from '../../shared/limits.ts';
import { logChanges } from '../../shared/queue/log-changes.ts';
import { added } from '../sql/support/lease-core.ts';
import { createSteppedTime } from '../routes/support/stepped-time.ts';
import { createHubWorld } from './support/hub-world.ts';
import type { HubWorld, TestHub } from './support/hub-world.ts';
import type { TestViewer } from './support/viewer.ts';

let world: HubWorld;
beforeAll(async () => {
  world = await createHubWorld();
});
afterAll(() => world.close());
// Above a transaction of another test events have no cursor yet, and a viewer who starts now is shown them.
beforeEach(() => world.settled());

/** Adds a job, and tells the feed of it. */
async function adds({ hub }: TestHub, queue = 'live'): Promise<string> {
  const id = await added(world.sql, { queue });
  hub.changed();
  return id;
}

/** Jobs whose creation a viewer has seen; what comes early comes again under the same id. */
const created = (viewer: TestViewer): (string | null)[] => [
  ...new Map(
    viewer.events.filter(({ type }) => type === 'created').map((event) => [event.id, event.job_id]),
  ).values(),
];

describe('a feed with viewers', () => {
  test('S2.7 reads the same for 200 viewers as for one, counted at the endpoint', async () => {
    const feed = world.hub({
      overview: async () => ({ queues: [] }),
      // A transaction of another test may be open in the server, and would bring looks of its own.
      read: async (place) => ({
        ...(await logChanges(world.sql, { limit: 200, ...(place === undefined ? {} : { place }) })),
        unsettled: false,
      }),
    });
    const readsOf = async (viewers: readonly TestViewer[]): Promise<number> => {
      const before = world.http.endpoint.requests;
      for (let round = 0; round < 10; round += 1) {
        const id = await adds(feed);
        await Promise.all(viewers.map((viewer) => viewer.sees(id)));
      }
      return world.http.endpoint.requests - before;
    };
    const one = await feed.watch();
    const alone = await readsOf([one]);
    const before = world.http.endpoint.requests;
    const many = await Promise.all(Array.from({ length: 199 }, async () => await feed.watch()));
    expect(world.http.endpoint.requests - before).toBe(0);
    const together = await readsOf([one, ...many]);
    // The job, and the look that its hint brings.
    expect(alone).toBe(2 * 10);
    expect(together).toBe(2 * 10);
    for (const viewer of many) {
      expect(created(viewer)).toEqual(expect.arrayContaining(created(one).slice(10)));
    }
    await Promise.all([one, ...many].map((viewer) => viewer.leave()));
  }, 60_000);

  test('S2.7 nothing is read without a hint, and nothing for viewers that have left', async () => {
    const feed = world.hub({ overview: async () => ({ queues: [] }) });
    await added(world.sql, { queue: 'live' });
    feed.hub.changed();
    expect(feed.reads.changes).toBe(0);
    const viewer = await feed.watch();
    await viewer.sees(await adds(feed));
    const read = feed.reads.changes;
    await viewer.leave();
    expect(feed.hub.viewers).toBe(0);
    await adds(feed);
    expect(feed.reads.changes).toBe(read);
  });

  test('S2.7 B.1 nothing is read for one viewer who comes back to a board on which nothing has happened', async () => {
    const feed = world.hub({ overview: async () => ({ queues: [] }) });
    const first = await feed.watch();
    const start = first.lastEventId();
    await first.sees(await adds(feed));
    // Above a transaction of another test it comes early; then a look is due, until it has a cursor.
    await first.until(() => first.lastEventId() !== start);
    const cursor = first.lastEventId() ?? '';
    await first.leave();
    const read = feed.reads.changes;
    const back = await feed.watch({ cursor });
    await back.leave();
    const other = await feed.watch();
    await other.leave();
    expect(feed.reads.changes).toBe(read);
    // What happens while nobody watches is not missed.
    const missed = await adds(feed);
    const again = await feed.watch({ cursor });
    await again.sees(missed);
    await again.leave();
  });

  test('a stream starts now, and says first where', async () => {
    const feed = world.hub();
    const earlier = await added(world.sql, { queue: 'live' });
    await world.settled();
    const viewer = await feed.watch();
    expect(viewer.messages[0]).toMatchObject({ event: 'change', data: { events: [], jobs: [] } });
    expect(viewer.messages[0]?.id).toMatch(/^\d+_j0$/);
    const id = await adds(feed);
    expect(await viewer.sees(id)).toMatchObject({ queue: 'live', actor: 'test' });
    expect(created(viewer)).not.toContain(earlier);
    const change = viewer.messages.find(
      ({ event, data }) => event === 'change' && JSON.stringify(data).includes(id),
    );
    expect(change?.data).toMatchObject({ jobs: [{ id, state: 'pending', queue: 'live' }] });
    expect(JSON.stringify(change?.data)).not.toContain('a@example.com');
    await viewer.leave();
  });

  test('S2.7 who comes back gets what was missed, in order, from memory where it can be', async () => {
    const feed = world.hub();
    const stays = await feed.watch();
    const cut = await feed.watch();
    const seen = await adds(feed);
    await world.settled();
    feed.hub.changed();
    await cut.settles(seen);
    const cursor = cut.lastEventId() ?? '';
    await cut.leave();
    const missed = [];
    for (let i = 0; i < 3; i += 1) {
      missed.push(await adds(feed));
      await stays.sees(missed.at(-1) ?? '');
    }
    const before = feed.reads.changes;
    const back = await feed.watch({ cursor });
    await back.sees(missed[2] ?? '');
    expect(feed.reads.changes).toBe(before);
    const next = await adds(feed);
    await back.sees(next);
    expect(created(back)).toEqual([...missed, next]);
    await Promise.all([stays.leave(), back.leave()]);
  });

  test('S2.7 who comes back to a feed that knows nothing is brought up from the log, page by page', async () => {
    const first = world.hub();
    const viewer = await first.watch();
    const seen = await adds(first);
    await world.settled();
    first.hub.changed();
    await viewer.settles(seen);
    const cursor = viewer.lastEventId() ?? '';
    await viewer.leave();
    const missed: string[] = [];
    for (let i = 0; i < 450; i += 1) missed.push(await added(world.sql, { queue: 'live' }));
    await world.settled();
    const feed = world.hub();
    const [a, b] = await Promise.all([feed.watch({ cursor }), feed.watch({ cursor })]);
    // Changes go on while they catch up.
    const live = await adds(feed);
    await Promise.all([a?.sees(live), b?.sees(live)]);
    for (const back of [a, b]) {
      expect(created(back as TestViewer)).toEqual([...missed, live]);
    }
    // Where the log ends, three pages for both of them, and the look for the change.
    expect(feed.reads.changes).toBeLessThanOrEqual(6);
    await Promise.all([a?.leave(), b?.leave()]);
  });

  test('shows a viewer its queues alone, in changes and overviews', async () => {
    const feed = world.hub();
    const all = await feed.watch();
    const limited = await feed.watch({ queues: ['mine', 'ours'] });
    const narrow = await feed.watch({ queues: ['mine', 'ours'], queue: 'ours' });
    await adds(feed, 'theirs');
    const mine = await adds(feed, 'mine');
    const ours = await adds(feed, 'ours');
    await Promise.all([all.sees(ours), limited.sees(ours), narrow.sees(ours)]);
    expect(created(all)).toHaveLength(3);
    expect(created(limited)).toEqual([mine, ours]);
    expect(created(narrow)).toEqual([ours]);
    const shown = async (viewer: TestViewer): Promise<unknown> => {
      await viewer.until(({ messages }) => overviewNames(messages.at(-1)).includes('ours'));
      return overviewNames(viewer.messages.at(-1));
    };
    expect(await shown(limited)).toEqual(expect.not.arrayContaining(['theirs']));
    expect(await shown(narrow)).toEqual(['ours']);
    const text = JSON.stringify([...limited.messages, ...narrow.messages]);
    expect(text).not.toContain('theirs');
    await Promise.all([all, limited, narrow].map((viewer) => viewer.leave()));
  });

  test('a cursor of another database is answered with a reset, and the stream goes on from now', async () => {
    const feed = world.hub();
    for (const request of [{ cursor: '999999999999_j1' }, { lost: true }] as ViewerRequest[]) {
      await world.settled();
      const viewer = await feed.watch(request);
      expect(viewer.messages[0]).toMatchObject({ event: 'reset' });
      const id = await adds(feed);
      await viewer.sees(id);
      expect(created(viewer)).toEqual([id]);
      await viewer.leave();
    }
  });

  test('who comes to an empty feed is not shown what others saw above a transaction that still runs', async () => {
    const open = await world.database.pool.connect();
    await open.query('begin');
    await open.query('select pg_catalog.pg_current_xact_id()');
    const feed = world.hub();
    const before = await feed.watch();
    await before.sees(await adds(feed));
    await before.leave();
    await open.query('commit');
    open.release();
    await world.settled();
    const after = await feed.watch();
    const id = await adds(feed);
    await after.sees(id);
    expect(created(after)).toEqual([id]);
    await after.leave();
  });

  test('a look that fails is made again; nobody misses anything and nobody is cut', async () => {
    const feed = world.hub();
    const viewer = await feed.watch();
    world.http.endpoint.faults.next({ kind: 'sql_error', code: 'XX000' }, { match: /log_changes/ });
    const id = await adds(feed);
    await viewer.sees(id);
    expect(world.log.events).toContain('feed_read_failed');
    await viewer.leave();
  });
});

describe('the end of a stream', () => {
  test('comes in its time with a hand-over, and when to come back; heartbeats until then', async () => {
    const time = createSteppedTime();
    const feed = world.hub({ ...time, maxStreamMs: 2.5 * STREAM_HEARTBEAT_MS });
    const viewer = await feed.watch();
    for (const beats of [1, 2]) {
      const pause = await time.nextPause();
      expect(pause.milliseconds).toBeLessThanOrEqual(STREAM_HEARTBEAT_MS);
      pause.end();
      await viewer.until((seen) => seen.comments() === beats);
    }
    (await time.nextPause()).end();
    await viewer.ended();
    expect(viewer.messages.at(-1)).toMatchObject({ event: 'hand_over', data: { reason: 'time' } });
    expect(viewer.retryMs()).toBe((MIN_RETURN_MS + MAX_RETURN_MS) / 2);
    expect(feed.hub.viewers).toBe(0);
  });

  test('comes with the end of the token', async () => {
    const time = createSteppedTime();
    const feed = world.hub(time);
    const viewer = await feed.watch({ endsAt: webClock.now() + 4000 });
    const pause = await time.nextPause();
    expect(pause.milliseconds).toBeLessThanOrEqual(4000);
    pause.end();
    await viewer.ended();
    expect(viewer.messages.at(-1)).toMatchObject({ event: 'hand_over', data: { reason: 'token' } });
  });
});

function overviewNames(message: { event: string; data: unknown } | undefined): string[] {
  if (message?.event !== 'overview') return [];
  return (message.data as { queues: { name: string }[] }).queues.map(({ name }) => name);
}
