import { LeaseholdError } from '../errors.ts';
import type { Sql, SqlOptions } from '../ports.ts';
import { newEventValues, type AppendedEvent, type NewEvent } from './new-event.ts';

export interface AppendEventInput {
  readonly event: NewEvent;
  /** Who adds it, for the log; 1 to 200 characters. */
  readonly actor: string;
}

/**
 * Appends one event in a transaction of its own. Where it tells about rows, append it in their transaction instead
 * (`appendIn`), so that both are there or neither. Repeated with the same content it changes nothing.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field; `version_conflict` with `expected_version`;
 *   `event_id_conflict` when the id belongs to another event.
 * @example await appendEvent(sql, { event: { id, aggregateType: 'order', aggregateId: '42', type: 'order.placed' }, actor });
 */
export async function appendEvent(
  sql: Sql,
  input: AppendEventInput,
  options?: SqlOptions,
): Promise<AppendedEvent> {
  const [row] = await ask(sql, input, options).catch((error: unknown) => {
    throw namedForEvents(error);
  });
  if (row === undefined) throw new TypeError('leasehold.append_event gave no row');
  return {
    outcome: row.outcome,
    eventId: row.event_id,
    version: Number(row.version),
    createdAt: row.created_at,
  };
}

async function ask(
  sql: Sql,
  input: AppendEventInput,
  options: SqlOptions | undefined,
): Promise<AppendedRow[]> {
  return await sql.query<AppendedRow>(
    `select outcome, event_id, version, created_at
     from leasehold.append_event(
       $1::uuid, $2::text, $3::text, $4::text, $5::jsonb, $6::bigint, $7::int, $8::jsonb, $9::timestamptz, $10::text
     )`,
    newEventValues(input.event, input.actor),
    options,
  );
}

/** What the routine says about an id or a version that is taken, under the codes that callers go by. */
function namedForEvents(error: unknown): unknown {
  if (!(error instanceof LeaseholdError)) return error;
  const { message, problems } = error;
  if (error.code === 'job_id_conflict') {
    return new LeaseholdError('event_id_conflict', message, { cause: error, problems });
  }
  const expected = /^version: the next version of .+ is (\d{1,16}), not \d+$/s.exec(message)?.[1];
  if (error.code !== 'invalid_request' || expected === undefined) return error;
  const facts = { expected_version: Number(expected) };
  return new LeaseholdError('version_conflict', message, { cause: error, problems, facts });
}

type AppendedRow = {
  outcome: 'appended' | 'exists';
  event_id: string;
  version: string;
  created_at: Date;
};
