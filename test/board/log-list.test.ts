import { describe, expect, test } from 'vitest';
import {
  fitsLog,
  MAX_LISTED_EVENTS,
  withNews,
  withOlder,
  type LogList,
} from '../../functions/board/client/log-list.ts';
import type { BoardEvent } from '../../functions/board/client/wire.ts';
import { logEvent } from './support.ts';

/** An event at some second of the day, in a transaction. */
function at(second: number, xact = second): BoardEvent {
  return logEvent(`j${second}`, {
    cursor: `${xact}_j${second}`,
    at: new Date(Date.UTC(2030, 4, 17) + second * 1000).toISOString(),
  });
}

const ids = ({ events }: LogList): string => events.map(({ id }) => id).join(' ');

describe('the log on the activity page', () => {
  test('is one list of what was read and what was told, each event once, the newest first', () => {
    const read = { events: [at(12), at(11)], older: '11_j11' };
    const told = withNews(read, [{ ...at(12), cursor: null }, at(13)]);
    expect(ids(told)).toBe('j13 j12 j11');
    const older = withOlder(told, { events: [at(10), at(9)], older: null });
    expect(ids(older)).toBe('j13 j12 j11 j10 j9');
    expect(older.older).toBeNull();
    expect(withNews(older, [])).toBe(older);
  });

  test('lets the oldest go beyond its bound, and can read all of them again', () => {
    const list = Array.from({ length: MAX_LISTED_EVENTS }, (_, i) => at(i + 10)).toReversed();
    const full = { events: list, older: null };
    expect(withNews(full, [list[3] as BoardEvent])).toEqual(full);
    const cut = withNews(full, [at(MAX_LISTED_EVENTS + 10)]);
    expect(cut.events).toHaveLength(MAX_LISTED_EVENTS);
    expect(cut.events.at(-1)?.id).toBe('j11');
    expect(cut.older).toBe('11_j11');
    // One that was committed late: its place is further on than its time says.
    const late = withNews({ events: [at(14), at(13), at(12, 13)], older: null }, [at(15)], 2);
    expect(ids(late)).toBe('j15 j14');
    expect(late.older).toBe('14_j14');
    const crossed = [at(14, 12), at(13, 14), at(12, 13)];
    expect(withNews({ events: crossed, older: null }, [at(15)], 3).older).toBe('14_j13');
  });

  test('shows what its filters fit, and heartbeats only when they are asked for', () => {
    const event = logEvent('j1', { type: 'heartbeat' });
    expect(fitsLog({}, event)).toBe(false);
    expect(fitsLog({ type: 'heartbeat', queue: 'emails', actor: 'agent-7' }, event)).toBe(true);
    expect(fitsLog({ type: 'heartbeat', actor: 'agent' }, event)).toBe(false);
    expect(fitsLog({ queue: 'others' }, logEvent('j2'))).toBe(false);
    expect(fitsLog({ type: 'claimed' }, logEvent('j2'))).toBe(true);
  });
});
