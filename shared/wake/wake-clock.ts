/**
 * Wakes the drain at an instant. Like every wake-up it is a hint: one that is lost makes the queue slower, one that comes
 * twice finds nothing to do, and whoever is woken looks into the database, which alone knows what is due.
 */
export interface WakeClock {
  /**
   * Asks for a drain at `at` or before. Of several instants the earliest counts: the drain that it brings asks for the next.
   * Ask after the commit that made something due at `at`: a drain before it would not see it.
   *
   * @param at milliseconds since the Unix epoch; the past means at once
   * @throws {Error} when the clock did not take it. On the path of a request nobody waits for it (`functions/wake/ask-wake.ts`);
   *   a drain lets it fail the tick, so that the platform repeats the tick.
   */
  wakeAt(at: number): Promise<void>;
}
