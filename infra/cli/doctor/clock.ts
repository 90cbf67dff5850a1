import { durationText } from '../time-text.ts';
import { fail, ok, warn } from './finding.ts';
import type { Finding } from './finding.ts';
import { POKE_TOLERANCE_SECONDS } from '../../../shared/limits.ts';

const WARN_MS = 5000;
const FAIL_MS = POKE_TOLERANCE_SECONDS * 1000;
const REMEDY =
  'Set the clock of this machine by NTP: signatures are refused that are five minutes off, and job ids that are a day off.';

/**
 * How far the clock of another is from this machine's.
 *
 * @param aheadMs positive when theirs is ahead
 * @param errorMs how far off that may be
 */
export function clockFinding(
  check: string,
  whose: string,
  aheadMs: number,
  errorMs: number,
): Finding {
  const off = Math.max(0, Math.abs(aheadMs) - errorMs);
  if (off <= WARN_MS) return ok(check, `${whose} and this machine agree on the time`);
  const found = `${whose} is ${durationText(off)} ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine`;
  return off > FAIL_MS ? fail(check, found, REMEDY) : warn(check, found, REMEDY);
}
