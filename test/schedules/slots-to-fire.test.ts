import { describe, expect, test } from 'vitest';

import { slotTimes } from '../../shared/cron.ts';
import { ON_TIME_SECONDS } from '../../shared/limits.ts';
import type { MissedPolicy } from '../../shared/queue/schedule.ts';
import { slotsToFire } from '../../shared/schedule-slots.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Ten seconds past a full hour. */
const NOW = Date.UTC(2026, 10, 30, 12, 0, 10);
const SLOT = NOW - 10_000;

function fire(
  cron: string,
  sinceMs: number,
  missed: MissedPolicy,
  missedLimit = 10,
): { slots: number[]; dropped: boolean } {
  const { slots, dropped } = slotsToFire(slotTimes(cron, 'UTC'), {
    decidedUntil: NOW - sinceMs,
    now: NOW,
    missed,
    missedLimit,
  });
  return { slots: slots.map((slot) => (slot - SLOT) / MINUTE_MS), dropped };
}

describe('case H5 a minute schedule whose ticks stop', () => {
  test.each(['skip', 'latest', 'all'] as const)(
    '%s: for 30 s and 61 s, nothing is lost',
    (missed) => {
      expect(fire('* * * * *', 30_000, missed)).toEqual({ slots: [0], dropped: false });
      expect(fire('* * * * *', 61_000, missed)).toEqual({ slots: [0], dropped: false });
      // Sixty-one seconds can hold two slots.
      expect(fire('* * * * *', 71_000, missed)).toEqual({ slots: [-1, 0], dropped: false });
    },
  );

  test('for 10 min', () => {
    expect(fire('* * * * *', 10 * MINUTE_MS, 'skip')).toEqual({ slots: [-1, 0], dropped: true });
    expect(fire('* * * * *', 10 * MINUTE_MS, 'latest')).toEqual({ slots: [-1, 0], dropped: true });
    expect(fire('* * * * *', 10 * MINUTE_MS, 'all')).toEqual({
      slots: [-9, -8, -7, -6, -5, -4, -3, -2, -1, 0],
      dropped: false,
    });
  });

  test('for 3 days', () => {
    const days = 3 * 24 * HOUR_MS;
    expect(fire('* * * * *', days, 'latest')).toEqual({ slots: [-1, 0], dropped: true });
    expect(fire('* * * * *', days, 'all', 3)).toEqual({
      slots: [-4, -3, -2, -1, 0],
      dropped: true,
    });
  });
});

describe('case H5 a schedule whose slot was missed and is not yet due again', () => {
  test('skip lets it go, and says so', () => {
    expect(fire('30 * * * *', HOUR_MS, 'skip')).toEqual({ slots: [], dropped: true });
  });

  test('latest, the default, fires it', () => {
    expect(fire('30 * * * *', HOUR_MS, 'latest')).toEqual({ slots: [-30], dropped: false });
    expect(fire('30 * * * *', 3 * HOUR_MS, 'latest')).toEqual({ slots: [-30], dropped: true });
  });

  test('all fires as many as the limit says, oldest first', () => {
    expect(fire('30 * * * *', 3 * HOUR_MS, 'all')).toEqual({
      slots: [-150, -90, -30],
      dropped: false,
    });
    expect(fire('30 * * * *', 3 * HOUR_MS, 'all', 2)).toEqual({ slots: [-90, -30], dropped: true });
  });
});

test('on time is up to a bound, and not beyond', () => {
  const justOnTime = SLOT + ON_TIME_SECONDS * 1000 - 1;
  const decide = (now: number): readonly number[] =>
    slotsToFire(slotTimes('0 * * * *', 'UTC'), {
      decidedUntil: SLOT - 1,
      now,
      missed: 'skip',
      missedLimit: 1,
    }).slots;
  expect(decide(justOnTime)).toEqual([SLOT]);
  expect(decide(justOnTime + 1)).toEqual([]);
});

test('nothing new since the last decision, nothing to fire', () => {
  expect(fire('* * * * *', 10_000, 'all')).toEqual({ slots: [], dropped: false });
  expect(fire('* * * * *', -5000, 'all')).toEqual({ slots: [], dropped: false });
});
