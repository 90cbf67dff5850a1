import type { SlotTimes } from './cron.ts';
import { ON_TIME_SECONDS } from './limits.ts';
import type { MissedPolicy } from './queue/schedule.ts';

/** Slots lie on whole minutes. */
const MAX_ON_TIME_SLOTS = Math.ceil(ON_TIME_SECONDS / 60);

export interface SlotsToFire {
  /** Instants in milliseconds, oldest first. */
  readonly slots: readonly number[];
  /** Whether the policy let slots go that nobody fired. */
  readonly dropped: boolean;
}

/**
 * Which slots between the last decision and now are fired. A slot that is at most `ON_TIME_SECONDS` old is on time,
 * however the policy reads, so that a tick which is a little late costs nothing; older ones were missed.
 *
 * - `skip`: no missed slot.
 * - `latest`: the latest missed one, unless a slot is on time.
 * - `all`: the latest `missedLimit` of them.
 *
 * @param input.decidedUntil,input.now milliseconds by the database clock
 */
export function slotsToFire(
  times: SlotTimes,
  input: {
    readonly decidedUntil: number;
    readonly now: number;
    readonly missed: MissedPolicy;
    readonly missedLimit: number;
  },
): SlotsToFire {
  const { decidedUntil, now } = input;
  const missedUntil = now - ON_TIME_SECONDS * 1000;
  const onTime = times.between(Math.max(decidedUntil, missedUntil), now, MAX_ON_TIME_SLOTS);
  const wanted = missedWanted(input.missed, input.missedLimit, onTime.length > 0);
  const found = times.between(decidedUntil, missedUntil, wanted + 1);
  const missed = found.slice(Math.max(0, found.length - wanted));
  return { slots: [...missed, ...onTime], dropped: found.length > wanted };
}

function missedWanted(policy: MissedPolicy, limit: number, isOnTime: boolean): number {
  switch (policy) {
    case 'skip':
      return 0;
    case 'latest':
      return isOnTime ? 0 : 1;
    case 'all':
      return limit;
  }
}
