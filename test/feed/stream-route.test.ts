/** GET /v1/events/stream and what tells it of changes, through the app. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { createApp } from '../../functions/app.ts';
import type { FeedHub } from '../../functions/feed/feed-hub.ts';
import { createPacedFeed } from '../../functions/feed/hub-over.ts';
import type { LiveFeed, ViewerRequest } from '../../functions/feed/live-feed.ts';
import { createRemoteFeed } from '../../functions/feed/remote-feed.ts';
import { createSingleBatchFeed } from '../../functions/feed/single-batch-feed.ts';
import { streamAnswer } from '../../functions/feed/stream-answer.ts';
import { viewerOf } from '../../functions/feed/viewer-address.ts';
import { runOperationsOver } from '../../functions/run-operations-over.ts';
import { drain } from '../../functions/scheduled/drain.ts';
import { defineHandler } from '../../shared/handler.ts';
import { FEED_PACE_MS } from '../../shared/limits.ts';
import type { LogEvent } from '../../shared/queue/log-event.ts';
import { createAppHarness, signToken } from '../routes/support/app-harness.ts';
import type { AppHarness, CallOptions } from '../routes/support/app-harness.ts';
import { settledLog } from '../support/settled-log.ts';
import { claimed } from '../sql/support/lease-core.ts';
import { ManualClock } from '../unit/support/manual-clock.ts';
import { view } from './support/viewer.ts';
import type { TestViewer } from './support/viewer.ts';

let app: AppHarness;
beforeAll(async () => {
  const handler = defineHandler({
    queue: 'handled',
    type: 't',
    schema: z.unknown(),
    run: () => undefined,
  });
  app = await createAppHarness({ handlers: [handler] });
});
afterAll(() => app.close());

const JOB = { queue: 'routed', type: 't', payload: 1 };

async function watch(options: CallOptions = {}, path = '/v1/events/stream'): Promise<TestViewer> {
  const response = await createApp(app.deps()).fetch(await app.request('GET', path, options));
  expect(response.status).toBe(200);
  const body = response.body as ReadableStream<Uint8Array>;
  const viewer = view(body, { lastEventId: options.headers?.['last-event-id'] });
  await viewer.until(({ messages }) => messages.length > 0);
  return viewer;
}

async function enqueue(queue = JOB.queue): Promise<string> {
  const { body } = await app.call('POST', '/v1/jobs', { body: { ...JOB, queue } });
  return String(body['id']);
}

const allSettled = (): Promise<void> => settledLog(app.deps().sql);

function settledTypes(events: readonly LogEvent[], jobId: string): string[] {
  return events
    .filter((event) => event.job_id === jobId && event.cursor !== null)
    .map(({ type }) => type);
}

describe('GET /v1/events/stream', () => {
  test('is a stream of server-sent events that nobody may keep', async () => {
    const response = await createApp(app.deps()).fetch(
      await app.request('GET', '/v1/events/stream'),
    );
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-content-type-options': 'nosniff',
    });
    await response.body?.cancel();
  });

  test('leaves nobody watching who asked for the headers alone', async () => {
    const deps = app.deps();
    const asked = await app.request('HEAD', '/v1/events/stream');
    const response = await createApp(deps).fetch(asked);
    expect(response.headers.get('content-type')).toMatch('text/event-stream');
    expect(response.body).toBeNull();
    expect((deps.feed as FeedHub).viewers).toBe(0);
  });

  test('S2.7 shows what an API call changes, and takes Last-Event-ID or a cursor', async () => {
    const viewer = await watch();
    const first = await enqueue();
    await viewer.sees(first, 'created');
    const claimed = await app.call('POST', '/v1/queues/routed/claims', {
      body: {},
      actor: 'agent',
    });
    expect(claimed.status).toBe(200);
    expect(await viewer.sees(first, 'claimed')).toMatchObject({ actor: 'agent' });
    await allSettled();
    app.deps().feed.changed();
    await viewer.until(({ events }) => settledTypes(events, first).includes('claimed'));
    const last = viewer.lastEventId() ?? '';
    await viewer.leave();
    const missed = await enqueue();
    const back = await watch({ headers: { 'last-event-id': last } });
    await back.sees(missed);
    const fromCursor = await watch({}, `/v1/events/stream?cursor=${last}`);
    await fromCursor.sees(missed);
    for (const one of [back, fromCursor]) {
      expect(new Set(one.events.map((event) => event.job_id))).toEqual(new Set([missed]));
      await one.leave();
    }
    const lost = await watch({ headers: { 'last-event-id': 'of something else' } });
    expect(lost.messages[0]).toMatchObject({ event: 'reset' });
    await lost.leave();
  });

  test('a token for certain queues sees these alone, and may not ask for others', async () => {
    const limited = await watch({ queues: ['mine'] });
    await enqueue('theirs');
    const mine = await enqueue('mine');
    await limited.sees(mine);
    expect(limited.events.map(({ queue }) => queue)).toEqual(['mine']);
    await limited.leave();
    const asked = { queues: ['mine'] };
    expect((await app.call('GET', '/v1/events/stream?queue=theirs', asked)).status).toBe(403);
    expect((await app.call('GET', '/v1/events?queue=theirs', asked)).status).toBe(403);
    const log = await app.call('GET', '/v1/events?limit=200', asked);
    const { events } = log.body as { events: { queue: string }[] };
    expect(new Set(events.map(({ queue }) => queue))).toEqual(new Set(['mine']));
    const at = new Date().toISOString();
    const board = await app.call('GET', `/v1/board?at=${at}`, asked);
    expect(JSON.stringify(board.body)).not.toContain('theirs');
    const theirs = await enqueue('theirs');
    expect((await app.call('GET', `/v1/jobs/${theirs}/events`, asked)).status).toBe(404);
    expect((await app.call('GET', '/v1/events', { scope: 'work' })).status).toBe(403);
  });

  test('ends with the token', async () => {
    const expiresAt = Math.floor(Date.now() / 1000) + 2;
    const viewer = await watch({
      scope: null,
      headers: { authorization: `Bearer ${await signToken('read', { expiresAt })}` },
    });
    await viewer.ended();
    expect(Date.now()).toBeGreaterThanOrEqual(expiresAt * 1000);
    expect(viewer.messages.at(-1)).toMatchObject({ event: 'hand_over', data: { reason: 'token' } });
  });
});

describe('hints', () => {
  /** How many hints some work brings. */
  async function hintsOf(run: (feed: LiveFeed) => Promise<unknown>): Promise<number> {
    let hints = 0;
    await run({
      ...app.deps().feed,
      changed: () => (hints += 1),
      open: async () => new ReadableStream(),
    });
    await app.backgroundDone();
    return hints;
  }
  const calls = (method: string, path: string, options?: CallOptions) => async (feed: LiveFeed) =>
    await app.callApp({ deps: app.deps({ feed }) }, await app.request(method, path, options));

  test('come after what changes something, and after nothing else', async () => {
    expect(await hintsOf(calls('POST', '/v1/jobs', { body: JOB }))).toBe(1);
    expect(await hintsOf(calls('PUT', '/v1/queues/routed', { body: { weight: 2 } }))).toBe(1);
    expect(await hintsOf(calls('GET', '/v1/jobs'))).toBe(0);
    expect(await hintsOf(calls('POST', '/v1/jobs', { body: { queue: '' } }))).toBe(0);
    expect(await hintsOf(calls('POST', '/v1/jobs', { body: JOB, scope: 'read' }))).toBe(0);
  });

  test('come with each step of a job that runs here, not only at its end', async () => {
    await enqueue('handled');
    // The claim, the completion, and the answer of the poke.
    const work = calls('POST', '/v1/work', { body: { queue: 'handled', depth: 0 } });
    expect(await hintsOf(work)).toBe(3);
    const jobId = await enqueue('stepped');
    const lease = await claimed(app.deps().sql, 'stepped');
    const beat = { ...lease, jobId, step: 1, progress: 'half' };
    const { sql } = app.deps();
    expect(await hintsOf((feed) => runOperationsOver({ sql, feed }).heartbeat(beat))).toBe(1);
  });

  test('come when a drain settles the lease of a queue that is pulled from', async () => {
    await app.call('PUT', '/v1/queues/pulled', { body: { delivery: 'pull' } });
    await enqueue('pulled');
    await app.call('POST', '/v1/queues/pulled/claims', { body: {} });
    expect(await hintsOf((feed) => drain(app.deps({ feed })))).toBe(0);
    await app.database.pool.query(
      `update leasehold.job_state set due_at = clock_timestamp() where queue = 'pulled' and lane = 0`,
    );
    expect(await hintsOf((feed) => drain(app.deps({ feed })))).toBe(1);
  });
});

describe('feeds of other platforms', () => {
  test('where no hint comes, the log is read at a set pace while somebody watches', async () => {
    const time = new ManualClock(Date.now());
    const feed = createPacedFeed({ ...app.deps(), clock: time, timer: time.timer });
    const viewer = view(await feed.open({}));
    await viewer.until(({ messages }) => messages.length > 0);
    const id = await enqueue();
    await time.advance(FEED_PACE_MS - 1);
    expect(viewer.events).toEqual([]);
    await time.advance(1);
    await viewer.sees(id);
    await viewer.until(({ messages }) => messages.at(-1)?.event === 'overview');
    await viewer.leave();
    const before = app.http.endpoint.requests;
    await time.advance(10 * FEED_PACE_MS);
    expect(app.http.endpoint.requests).toBe(before);
    expect(time.sleeping).toBe(0);
  });

  test('S2.7 where answers are sent whole, a stream brings what was missed and ends', async () => {
    const feed = createSingleBatchFeed(app.deps());
    const open = async (request: ViewerRequest): Promise<TestViewer> => {
      const viewer = view(await feed.open(request), { lastEventId: request.cursor });
      await viewer.ended();
      expect(viewer.messages.at(-1)).toMatchObject({ event: 'hand_over' });
      expect(viewer.retryMs()).toBe(FEED_PACE_MS);
      return viewer;
    };
    await allSettled();
    const first = await open({});
    expect(first.events).toEqual([]);
    const missed = [await enqueue(), await enqueue()];
    await allSettled();
    const next = await open({ cursor: first.lastEventId() ?? '' });
    expect(next.events.map((event) => event.job_id)).toEqual(missed);
    const last = await open({ cursor: next.lastEventId() ?? '' });
    expect(last.events).toEqual([]);
    expect((await open({ cursor: '999999999999_j1' })).messages[0]).toMatchObject({
      event: 'reset',
    });
    expect((await open({ lost: true })).messages[0]).toMatchObject({ event: 'reset' });
  });

  test('B.1 where another object reads the log, a stream asks the database nothing, nor does its first', async () => {
    const asked: ViewerRequest[] = [];
    const feed = createRemoteFeed(app.deps().feed, async (address) => {
      asked.push(viewerOf(new URL(address)));
      return streamAnswer(new ReadableStream());
    });
    const deps = app.deps({ feed, schema: { verified: false } });
    const before = app.http.endpoint.requests;
    const response = await createApp(deps).fetch(await app.request('GET', '/v1/events/stream'));
    expect(response.status).toBe(200);
    expect(asked).toHaveLength(1);
    expect(app.http.endpoint.requests).toBe(before);
    await response.body?.cancel();
  });

  test('a viewer is the same on the other side of an address', async () => {
    const viewers: ViewerRequest[] = [
      {},
      { cursor: '12_j7', queue: 'a b&c', endsAt: 1_900_000_000_000 },
      { lost: true, queues: [] },
      { queues: ['x', 'ü,y'] },
    ];
    const seen: ViewerRequest[] = [];
    const feed = createRemoteFeed({ changed: () => undefined }, async (address) => {
      seen.push(viewerOf(new URL(address)));
      return streamAnswer(new ReadableStream());
    });
    for (const viewer of viewers) await feed.open(viewer);
    expect(seen).toEqual(viewers);
    const broken = createRemoteFeed(
      { changed: () => undefined },
      async () => new Response('', { status: 500 }),
    );
    await expect(broken.open({})).rejects.toThrow('gave no stream');
  });
});
