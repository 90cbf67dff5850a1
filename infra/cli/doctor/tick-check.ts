import { durationText } from '../time-text.ts';
import { ok, warn } from './finding.ts';
import type { Finding } from './finding.ts';

/** Twice the default of the safety sweep. */
const LATE_MS = 2 * 60 * 60 * 1000;

/** Whether scheduled passes go on: nothing else says that they stopped. */
export function checkTick(check: string, lastAt: string | null, nowMs: number): Finding {
  if (lastAt === null) {
    return warn(
      check,
      'no scheduled pass has done its work yet',
      'See that the cron (Cloudflare) or the schedule (AWS) of the deployment is there.',
    );
  }
  const agoMs = nowMs - Date.parse(lastAt);
  const found = `the last scheduled pass did its work ${durationText(agoMs)} ago`;
  if (agoMs <= LATE_MS) return ok(check, found);
  return warn(
    check,
    found,
    'Unless SAFETY_SWEEP_MINUTES asks for so few: see that the cron or schedule is there, and what it logs.',
  );
}
