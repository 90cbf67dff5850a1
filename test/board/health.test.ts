import { describe, expect, test } from 'vitest';
import { describeEvent } from '../../functions/board/client/describe-event.ts';
import {
  byAge,
  healthOf,
  LATE_SECONDS,
  oldest,
  total,
  WAITING_SECONDS,
  withSwitches,
} from '../../functions/board/client/health.ts';
import type { Overview, QueueHealth } from '../../functions/board/client/wire.ts';
import { LOG_EVENT_TYPES } from '../../shared/queue/log-event.ts';
import { logEvent } from './support.ts';

const NOW = Date.parse('2030-05-17T12:00:00Z');
const count = (n: number, capped = false) => ({ count: n, capped });
const queue = (dueForSeconds: number | null, more: Partial<QueueHealth> = {}): QueueHealth =>
  ({
    name: 'emails',
    paused: null,
    running: count(0),
    oldest_due_at:
      dueForSeconds === null ? null : new Date(NOW - dueForSeconds * 1000).toISOString(),
    ...more,
  }) as QueueHealth;

describe('the health of a queue', () => {
  test.each([
    ['idle', queue(null)],
    ['well', queue(null, { running: count(1) })],
    ['well', queue(WAITING_SECONDS - 1)],
    ['waiting', queue(WAITING_SECONDS)],
    ['waiting', queue(LATE_SECONDS - 1)],
    ['late', queue(LATE_SECONDS)],
    ['paused', queue(LATE_SECONDS, { paused: { since: '', by: '', reason: null } })],
  ])('%s', (health, seen) => {
    expect(healthOf(seen, NOW)).toBe(health);
  });

  test('age comes before depth: the longest waiting first, then by name', () => {
    const queues = [
      queue(null, { name: 'b' }),
      queue(5, { name: 'deep' }),
      queue(null, { name: 'a' }),
      queue(500, { name: 'old' }),
    ];
    expect(queues.toSorted(byAge).map(({ name }) => name)).toEqual(['old', 'deep', 'a', 'b']);
    expect(oldest([null, '2030-02', '2030-01'])).toBe('2030-01');
    expect(oldest([null])).toBeNull();
  });

  test('counts add up, and stay open-ended', () => {
    const both = [queue(1, { dead: count(2) }), queue(1, { dead: count(1000, true) })];
    expect(total(both, ({ dead }) => dead)).toEqual({ count: 1002, capped: true });
  });

  test('a pause shows with its event, and others leave the overview as it is', () => {
    const seen = {
      at: '',
      queues: [queue(1), queue(1, { name: 'other' })],
      left_out: 0,
    } as Overview;
    const at = '2030-05-17T12:00:00Z';
    const paused = withSwitches(seen, [
      logEvent('q1', { type: 'paused', at, actor: 'anna', details: { reason: 'stocktaking' } }),
    ]);
    expect(paused.queues[0]?.paused).toEqual({ since: at, by: 'anna', reason: 'stocktaking' });
    expect(paused.queues[1]?.paused).toBeNull();
    expect(
      withSwitches(paused, [logEvent('q2', { type: 'resumed' })]).queues[0]?.paused,
    ).toBeNull();
    expect(withSwitches(seen, [logEvent('j1')])).toBe(seen);
  });
});

describe('events in words', () => {
  test.each(LOG_EVENT_TYPES)('%s has words of its own', (type) => {
    expect(describeEvent({ type, details: null }).what).not.toMatch(/^[a-z]|_/);
  });

  test('say what a reader asks for next', () => {
    const told = describeEvent({
      type: 'failed',
      details: { attempt: 2, code: 'amount_differs', class: 'unknown' },
    });
    expect(told).toEqual({ what: 'Failed', detail: 'attempt 2 · amount differs', tone: 'bad' });
    expect(describeEvent({ type: 'claimed', details: { lane: 'human' } }).what).toBe(
      'Taken by a person',
    );
    expect(describeEvent({ type: 'redriven', details: { note: 'Use_this <b>' } }).detail).toBe(
      'Use_this <b>',
    );
  });

  test('of a kind that came later are told by their name', () => {
    expect(describeEvent({ type: 'moon_landed' as 'claimed', details: 'x' })).toEqual({
      what: 'moon landed',
      detail: '',
      tone: 'plain',
    });
  });
});
