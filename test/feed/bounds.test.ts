/** What the feed keeps, and how far a reader may lag: bounded, and nobody misses anything for it. */
import { describe, expect, test } from 'vitest';

import { catchUp } from '../../functions/feed/catch-up.ts';
import { compareCursors, laterCursor } from '../../functions/feed/log-order.ts';
import { RecentChanges } from '../../functions/feed/recent-changes.ts';
import { createSingleBatchFeed } from '../../functions/feed/single-batch-feed.ts';
import { Viewer } from '../../functions/feed/viewer.ts';
import {
  MAX_FEED_EVENTS,
  MAX_RECENT_EVENTS,
  MAX_SINGLE_BATCH_PAGES,
  MAX_STREAM_BACKLOG_BYTES,
} from '../../shared/limits.ts';
import type { SqlRow } from '../../shared/ports.ts';
import type { LogChangesPage } from '../../shared/queue/log-changes.ts';
import type { LogEvent } from '../../shared/queue/log-event.ts';
import { view } from './support/viewer.ts';

function event(number: number, early = false): LogEvent {
  return {
    id: `j${number}`,
    cursor: early ? null : `1_j${number}`,
    job_id: null,
    queue: 'q',
    job_type: null,
    type: 'created',
    actor: 'test',
    at: '2030-01-31T12:00:00.000Z',
    fencing_token: null,
    details: null,
  };
}

function page(events: readonly LogEvent[], more = false): LogChangesPage {
  const cursor = events.findLast((one) => one.cursor !== null)?.cursor ?? '1_j0';
  return { events, jobs: [], place: { cursor, seen: '1:1:' }, more, unsettled: false };
}

function viewer(cursor?: string): Viewer {
  const request = cursor === undefined ? {} : { cursor };
  return new Viewer({ request, endsAt: 0, endReason: 'time', onGone: () => undefined });
}

describe('cursors', () => {
  test('are ordered as the log is: by transaction, jobs before queues, by number', () => {
    const inOrder = [
      '9_j3',
      '9_q1',
      '10_j1',
      '10_j2',
      '10_j10',
      '10_q1',
      '99999999999999999999_j1',
    ];
    for (const [at, cursor] of inOrder.entries()) {
      for (const [other, second] of inOrder.entries()) {
        expect(compareCursors(cursor, second)).toBe(Math.sign(at - other));
        expect(laterCursor(cursor, second)).toBe(inOrder[Math.max(at, other)]);
      }
    }
  });
});

describe('RecentChanges', () => {
  test('keeps the newest events, up to its bound, and knows what it does not have', () => {
    const recent = new RecentChanges('1_j0');
    const size = 100;
    const pages = MAX_RECENT_EVENTS / size + 1;
    const isWhole: boolean[] = [];
    for (let at = 0; at < pages; at += 1) {
      recent.add(page(Array.from({ length: size }, (_, i) => event(at * size + i + 1))));
      isWhole.push(recent.after('1_j0')?.length === at + 1);
    }
    // The last page took the place of the first.
    expect(isWhole).toEqual(Array.from({ length: pages }, (_, at) => at < pages - 1));
    expect(recent.after('1_j0')).toBeUndefined();
    expect(recent.after(`1_j${size - 1}`)).toBeUndefined();
    const kept = recent.after(`1_j${size}`) ?? [];
    expect(kept.flatMap(({ events }) => events)).toHaveLength(MAX_RECENT_EVENTS);
    const last = recent.after(`1_j${pages * size - 1}`) ?? [];
    expect(last.flatMap(({ events }) => events.map(({ id }) => id))).toEqual([`j${pages * size}`]);
  });

  test('keeps an early event until it is settled', () => {
    const recent = new RecentChanges('1_j0');
    recent.add(page([event(1, true), event(2, true)]));
    const early = (): string[] =>
      recent.early().flatMap(({ events }) => events.map(({ id }) => id));
    expect(early()).toEqual(['j1', 'j2']);
    recent.add(page([event(1)]));
    expect(early()).toEqual(['j2']);
  });
});

describe('a reader', () => {
  test('may lie behind up to the bound, and is let go beyond it', async () => {
    const one = viewer('1_j0');
    const wide = { ...event(1), details: 'x'.repeat(MAX_STREAM_BACKLOG_BYTES - 1000) };
    one.sendChanges({ events: [wide], jobs: [] }, '1_j1');
    expect(one.gone).toBe(false);
    one.sendChanges({ events: [{ ...event(2), details: 'x'.repeat(1000) }], jobs: [] }, '1_j2');
    expect(one.gone).toBe(true);
    // What was sent before still reaches it, so it comes back with a place.
    const reader = view(one.stream);
    await reader.ended();
    expect(reader.lastEventId()).toBe('1_j2');
  });

  test('that is brought up is not read for faster than it reads, and each page has its own place', async () => {
    const one = viewer('1_j0');
    const details = 'x'.repeat(MAX_STREAM_BACKLOG_BYTES / 2 + 1);
    const asked: string[] = [];
    const done = catchUp(one, {
      place: () => ({ cursor: '1_j3', recent: new RecentChanges('1_j3') }),
      ready: async () => undefined,
      page: async ({ cursor }) => {
        asked.push(cursor);
        const number = asked.length;
        return page([{ ...event(number), details }], number < 3);
      },
      overviewIsDue: () => undefined,
      rest: async () => undefined,
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(asked).toEqual(['1_j0']);
    const reader = view(one.stream);
    await done;
    expect(asked).toEqual(['1_j0', '1_j1', '1_j2']);
    await reader.until(({ events }) => events.length === 3);
    expect(reader.messages.map(({ id }) => id)).toEqual(['1_j1', '1_j2', '1_j3']);
    expect(one.live).toBe(true);
  });

  test('is not let go for what came early, however much of it there is', async () => {
    const one = viewer('1_j0');
    const recent = new RecentChanges('1_j0');
    const details = 'x'.repeat(MAX_STREAM_BACKLOG_BYTES / 4);
    for (let number = 1; number <= 8; number += 1) {
      recent.add(page([{ ...event(number, true), details }]));
    }
    await catchUp(one, {
      place: () => ({ cursor: '1_j0', recent }),
      ready: async () => undefined,
      page: async () => await Promise.reject(new Error('nothing is to be read')),
      overviewIsDue: () => undefined,
      rest: async () => undefined,
    });
    expect(one).toMatchObject({ live: true, gone: false });
    // What it missed comes with a cursor when it is settled.
    one.sendChanges({ events: [event(8)], jobs: [] }, '1_j8');
    const reader = view(one.stream);
    await reader.until(({ events }) => events.some(({ cursor }) => cursor === '1_j8'));
    expect(reader.events.length).toBeLessThan(8);
  });

  test('gets so many pages in one answer where answers are sent whole, and the rest with the next', async () => {
    let pages = 0;
    const feed = createSingleBatchFeed({
      schema: { verified: true },
      sql: {
        query: async <Row extends SqlRow>(): Promise<Row[]> => {
          pages += 1;
          const events = Array.from({ length: MAX_FEED_EVENTS }, (_, i) =>
            event(pages * MAX_FEED_EVENTS + i),
          );
          const cursor = events.at(-1)?.cursor ?? '';
          const answer = { events, jobs: [], cursor, seen: '', more: true, unsettled: false };
          return [{ page: answer }] as unknown as Row[];
        },
      },
    });
    const reader = view(await feed.open({ cursor: '1_j0' }));
    await reader.ended();
    expect(reader.events).toHaveLength(MAX_SINGLE_BATCH_PAGES * MAX_FEED_EVENTS);
    expect(reader.lastEventId()).toBe(reader.events.at(-1)?.cursor);
  });
});
