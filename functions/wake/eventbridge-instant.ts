/** One schedule for each of these: however many ask within it, there is one wake-up. */
export const WAKE_GRID_MS = 10_000;
/** A schedule in the past is not known to run; the request and the clocks of both sides need a little time. */
export const WAKE_LEAD_MS = 5000;

/** An instant at which EventBridge Scheduler is asked to wake the drain. */
export interface WakeInstant {
  /** Milliseconds since the Unix epoch, on the grid. */
  readonly at: number;
  /** Unique among the instants: it is what makes two askers of one instant one schedule. */
  readonly name: string;
  /** `at(…)` in UTC: the form has neither a zone nor a fraction. */
  readonly expression: string;
}

/**
 * The first instant of the grid that is not before `at` and far enough ahead. Rounded up, so that what is due is due when
 * the drain comes; Scheduler itself is up to a minute late.
 *
 * @example wakeInstant(Date.parse('2026-12-01T10:00:01Z'), now).expression // at(2026-12-01T10:00:10)
 */
export function wakeInstant(at: number, now: number): WakeInstant {
  const instant = Math.ceil(Math.max(at, now + WAKE_LEAD_MS) / WAKE_GRID_MS) * WAKE_GRID_MS;
  const text = new Date(instant).toISOString().slice(0, 19);
  return {
    at: instant,
    name: `wake-${text.replaceAll(/[-:]/g, '')}Z`,
    expression: `at(${text})`,
  };
}
