/** What the feed keeps in memory of events that are not settled: bounded, and nothing that is older than what it tells. */
import { describe, expect, test } from 'vitest';

import { RecentChanges } from '../../functions/feed/recent-changes.ts';
import { MAX_RECENT_EVENTS } from '../../shared/limits.ts';
import type { LogChangesPage } from '../../shared/queue/log-changes.ts';
import type { LogEvent } from '../../shared/queue/log-event.ts';

type Told = LogChangesPage['jobs'][number];

function event(id: number, settled: boolean): LogEvent {
  const cursor = settled ? `1_j${id}` : null;
  return { id: `j${id}`, cursor, job_id: `job-${id}`, queue: 'q' } as unknown as LogEvent;
}

function page(events: readonly LogEvent[], state: string): LogChangesPage {
  const jobs = events.map(({ job_id: id }) => ({ id, state }) as unknown as Told);
  const cursor = events.findLast((one) => one.cursor !== null)?.cursor ?? '1_j0';
  return { events: [...events], jobs, place: { cursor, seen: '' }, more: false, unsettled: true };
}

describe('S2.7 early events', () => {
  test('are kept up to a bound, the newest of them, however long a transaction runs', () => {
    const recent = new RecentChanges('1_j0');
    const size = 100;
    const ids = (): string[] => recent.early().flatMap(({ events }) => events.map(({ id }) => id));
    const pages = MAX_RECENT_EVENTS / size;
    for (let at = 0; at < pages; at += 1) {
      recent.add(
        page(
          Array.from({ length: size }, (_, i) => event(at * size + i, false)),
          'pending',
        ),
      );
    }
    expect(ids()).toHaveLength(MAX_RECENT_EVENTS);
    recent.add(page([event(MAX_RECENT_EVENTS, false)], 'pending'));
    expect(ids()).toHaveLength(MAX_RECENT_EVENTS - size + 1);
    expect(ids().at(0)).toBe(`j${size}`);
    expect(ids().at(-1)).toBe(`j${MAX_RECENT_EVENTS}`);
  });

  test('leave no job behind that was told anew when its own event was settled', () => {
    const recent = new RecentChanges('1_j0');
    recent.add(page([event(1, false), event(2, false)], 'running'));
    recent.add(page([event(1, true)], 'succeeded'));
    const told = [...(recent.after('1_j0') ?? []), ...recent.early()].flatMap(({ jobs }) => jobs);
    const last = new Map(told.map((job) => [job.id, job.state]));
    expect(last).toEqual(
      new Map([
        ['job-1', 'succeeded'],
        ['job-2', 'running'],
      ]),
    );
  });
});
