import type { Sql, SqlOptions } from '../ports.ts';

export interface NoteDeadLetterInput {
  readonly jobId: string;
  /** Who looks after it, 1 to 200 characters; left as it is when absent. */
  readonly owner?: string;
  /** Up to 4,000 characters; left as it is when absent. */
  readonly note?: string;
  readonly actor: string;
}

/**
 * Gives a dead job an owner and a note.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field.
 * @example await noteDeadLetter(sql, { jobId, owner: 'maria', note: 'asked the bank', actor: 'maria' });
 */
export async function noteDeadLetter(
  sql: Sql,
  input: NoteDeadLetterInput,
  options?: SqlOptions,
): Promise<'noted' | 'not_dead'> {
  const [row] = await sql.query<{ noted: boolean }>(
    'select leasehold.note_dead_letter($1::uuid, $2::text, $3::text, $4::text) as noted',
    [input.jobId, input.owner ?? null, input.note ?? null, input.actor],
    options,
  );
  return row?.noted === true ? 'noted' : 'not_dead';
}
