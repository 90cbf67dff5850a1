import type { Sql, SqlOptions } from '../ports.ts';

export interface RetainOutboxInput {
  /** 1 to 10,000 rows of each kind. */
  readonly limit: number;
  /** After so many days a published event loses its payload. */
  readonly payloadDays: number;
  /** After so many, envelope and log go as well; no less than `payloadDays`. */
  readonly eventDays: number;
  /** After so many a consumer forgets an event; a delivery that comes later is applied again. */
  readonly inboxDays: number;
}

/**
 * One bounded pass of retention over outbox and inbox. What waits to be published is never touched. Call it until it says 0.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field.
 * @example const { removed } = await retainOutbox(sql, { limit: 2000, payloadDays: 30, eventDays: 90, inboxDays: 90 });
 */
export async function retainOutbox(
  sql: Sql,
  input: RetainOutboxInput,
  options?: SqlOptions,
): Promise<{ readonly removed: number }> {
  const [row] = await sql.query<{ removed: number }>(
    'select leasehold.retain_outbox($1::int, $2::int, $3::int, $4::int) as removed',
    [input.limit, input.payloadDays, input.eventDays, input.inboxDays],
    options,
  );
  return { removed: row?.removed ?? 0 };
}
