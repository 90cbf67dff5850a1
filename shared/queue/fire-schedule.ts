import type { Sql, SqlOptions } from '../ports.ts';

export interface FireScheduleInput {
  readonly name: string;
  /** As read: another value now means that someone else decided meanwhile. */
  readonly decidedUntil: string;
  /** The slots to fire, oldest first: ISO 8601 instants, and the id of the job of each. */
  readonly slots: readonly { readonly at: string; readonly job_id: string }[];
  /** Slots up to here are decided by this call. */
  readonly until: string;
  /** The next one after that, or null. */
  readonly nextSlotAt: string | null;
}

export type FireScheduleOutcome =
  | { readonly outcome: 'fired'; readonly jobs: number }
  /** Someone else decided meanwhile, or the schedule is paused or gone. */
  | { readonly outcome: 'decided_elsewhere' };

/**
 * Decides the slots of one schedule up to an instant: one job a slot, for ever, however many ticks overlap. A repeat after a
 * lost answer says `decided_elsewhere` and makes no second job.
 *
 * @example await fireSchedule(sql, { name, decidedUntil, slots, until, nextSlotAt });
 */
export async function fireSchedule(
  sql: Sql,
  input: FireScheduleInput,
  options?: SqlOptions,
): Promise<FireScheduleOutcome> {
  const [row] = await sql.query<{ made: number | null }>(
    'select leasehold.fire_schedule($1::text, $2::timestamptz, $3::jsonb, $4::timestamptz, $5::timestamptz) as made',
    [input.name, input.decidedUntil, JSON.stringify(input.slots), input.until, input.nextSlotAt],
    options,
  );
  return row?.made == null
    ? { outcome: 'decided_elsewhere' }
    : { outcome: 'fired', jobs: row.made };
}
