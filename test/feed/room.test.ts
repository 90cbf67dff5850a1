/** How many the live feed serves, and what all of its readers together may leave lying in its memory. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createApp } from '../../functions/app.ts';
import { FeedHub } from '../../functions/feed/feed-hub.ts';
import { createRemoteFeed } from '../../functions/feed/remote-feed.ts';
import { Viewer } from '../../functions/feed/viewer.ts';
import { Viewers } from '../../functions/feed/viewers.ts';
import { webClock, webTimer } from '../../functions/web-ports.ts';
import {
  FEED_FULL_RETRY_SECONDS,
  MAX_FEED_BACKLOG_BYTES,
  MAX_FEED_VIEWERS,
  MAX_STREAM_BACKLOG_BYTES,
  STREAM_LINGER_MS,
} from '../../shared/limits.ts';
import type { LogChangesPage } from '../../shared/queue/log-changes.ts';
import type { LogEvent } from '../../shared/queue/log-event.ts';
import { createAppHarness } from '../routes/support/app-harness.ts';
import type { AppHarness } from '../routes/support/app-harness.ts';
import { RecordingLog } from '../unit/support/recording-log.ts';
import { view } from './support/viewer.ts';

const MIB = 1024 * 1024;

function event(number: number, bytes: number): LogEvent {
  return {
    id: `j${number}`,
    cursor: `1_j${number}`,
    job_id: `job ${number}`,
    queue: 'q',
    job_type: null,
    type: 'created',
    actor: 'test',
    at: '2030-01-31T12:00:00.000Z',
    fencing_token: null,
    details: 'x'.repeat(bytes),
  };
}

/** A feed of a log that holds what a test puts there. */
function feedOf(bytes = 10): { readonly hub: FeedHub; add(): string } {
  let events = 0;
  const page = (from: number): LogChangesPage => ({
    events: Array.from({ length: events - from }, (_, at) => event(from + at + 1, bytes)),
    jobs: [],
    place: { cursor: `1_j${events}`, seen: '1:1:' },
    more: false,
    unsettled: false,
  });
  const hub = new FeedHub({
    clock: webClock,
    timer: webTimer,
    random: { next: () => 0.5 },
    log: new RecordingLog(),
    read: async (place) => page(place === undefined ? events : Number(place.cursor.slice(3))),
  });
  return {
    hub,
    add: () => {
      events += 1;
      hub.changed();
      return `job ${events}`;
    },
  };
}

function viewer(onGone: (viewer: Viewer) => void = () => undefined): Viewer {
  return new Viewer({ request: { cursor: '1_j0' }, endsAt: 0, endReason: 'time', onGone });
}

const changes = (number: number, bytes: number) => ({ events: [event(number, bytes)], jobs: [] });

describe('S2.7 the room of a feed', () => {
  test('S2.7 is for so many streams and not one more, until one of them ends', async () => {
    const { hub } = feedOf();
    const streams = await Promise.all(
      Array.from({ length: MAX_FEED_VIEWERS }, async () => await hub.open({})),
    );
    await expect(hub.open({})).rejects.toMatchObject({
      code: 'feed_full',
      retryAfterSeconds: FEED_FULL_RETRY_SECONDS,
    });
    await streams[0]?.cancel();
    const last = await hub.open({});
    await expect(hub.open({})).rejects.toMatchObject({ code: 'feed_full' });
    await Promise.all([...streams.slice(1), last].map((stream) => stream.cancel()));
    expect(hub.viewers).toBe(0);
  });

  test('counts a stream until its reader has taken all of it, unless somebody needs the room', async () => {
    const viewers = new Viewers();
    const all = Array.from({ length: MAX_FEED_VIEWERS }, () => {
      const one = viewer((gone) => viewers.delete(gone));
      viewers.add(one);
      return one;
    });
    const [taken, left] = all;
    taken?.sendChanges(changes(1, 10), '1_j1');
    taken?.handOver(1);
    left?.sendChanges(changes(1, 10), '1_j1');
    left?.handOver(1);
    expect(viewers.size).toBe(MAX_FEED_VIEWERS);
    const reader = view((taken as Viewer).stream);
    await reader.ended();
    expect(reader.messages.map(({ event: name }) => name)).toEqual(['change', 'hand_over']);
    expect(viewers.size).toBe(MAX_FEED_VIEWERS - 1);
    viewers.add(viewer());
    viewers.requireRoom();
    expect(viewers.size).toBe(MAX_FEED_VIEWERS - 1);
    await expect((left as Viewer).stream.getReader().read()).rejects.toThrow('does not take');
  });

  test('is not held by who takes nothing after the end', () => {
    const viewers = new Viewers();
    const one = viewer((gone) => viewers.delete(gone));
    viewers.add(one);
    one.sendChanges(changes(1, MIB), '1_j1');
    viewers.endDue(0, { next: () => 0.5 });
    viewers.endDue(STREAM_LINGER_MS - 1, { next: () => 0.5 });
    expect(viewers.size).toBe(1);
    expect(one.backlog).toBeGreaterThan(MIB);
    viewers.endDue(STREAM_LINGER_MS, { next: () => 0.5 });
    expect(viewers.size).toBe(0);
    expect(one.backlog).toBe(0);
  });
});

describe('S2.7 readers that do not read', () => {
  test('S2.7 leave a bounded part of the log in memory, and hold up nobody', async () => {
    const bytes = MIB;
    const { hub, add } = feedOf(bytes);
    const good = view(await hub.open({ cursor: '1_j0' }));
    await good.until(({ messages }) => messages.length > 0);
    const slow = await Promise.all(
      Array.from({ length: 40 }, async () => await hub.open({ cursor: '1_j0' })),
    );
    for (let round = 0; round < 8; round += 1) await good.sees(add());
    expect(hub.backlog).toBeLessThanOrEqual(MAX_FEED_BACKLOG_BYTES + slow.length * (bytes + 1000));
    // The next look finds what was left lying, and cuts it off.
    await good.sees(add());
    expect(hub.backlog).toBeLessThanOrEqual(MAX_FEED_BACKLOG_BYTES + MAX_STREAM_BACKLOG_BYTES);
    expect(hub.viewers).toBeGreaterThan(1);
    const cut = await Promise.allSettled(slow.map((stream) => stream.getReader().read()));
    expect(cut.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(20);
    expect(good.events).toHaveLength(9);
    await good.leave();
  });

  test('are cut off from the furthest behind on, at the bound and not before', () => {
    const viewers = new Viewers();
    const part = MAX_FEED_BACKLOG_BYTES / 8 - 500;
    const all = Array.from({ length: 8 }, (_, at) => {
      const one = viewer((gone) => viewers.delete(gone));
      one.sendChanges(changes(1, part - at), '1_j1');
      viewers.add(one);
      return one;
    });
    viewers.cutSlowest();
    expect(viewers.size).toBe(8);
    const more = viewer((gone) => viewers.delete(gone));
    viewers.add(more);
    more.sendChanges(changes(1, 4000), '1_j1');
    viewers.cutSlowest();
    expect(viewers.size).toBe(8);
    expect(all[0]?.gone).toBe(true);
  });
});

describe('a feed that is full, for who asks', () => {
  let app: AppHarness;
  beforeAll(async () => {
    app = await createAppHarness();
  });
  afterAll(() => app.close());

  test('is a 503 that says when to come back, also where another object has it', async () => {
    const feed = createRemoteFeed(app.deps().feed, async () => new Response(null, { status: 503 }));
    const request = await app.request('GET', '/v1/events/stream');
    const response = await createApp(app.deps({ feed })).fetch(request);
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe(String(FEED_FULL_RETRY_SECONDS));
    expect(await response.json()).toMatchObject({ code: 'feed_full' });
  });
});
