import type { Sql, SqlOptions } from '../ports.ts';
import type { JobSummary } from './job.ts';

export interface ListDeadLettersInput {
  readonly queue?: string;
  /** 1 to 200. */
  readonly limit: number;
  /** `nextCursor` of the page before. */
  readonly cursor?: string;
}

/**
 * Dead jobs, the oldest first, with owner and note.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field.
 * @example const page = await listDeadLetters(sql, { queue: 'emails', limit: 50 });
 */
export async function listDeadLetters(
  sql: Sql,
  input: ListDeadLettersInput,
  options?: SqlOptions,
): Promise<{ readonly jobs: readonly JobSummary[]; readonly nextCursor: string | null }> {
  const [row] = await sql.query<{ page: { jobs: JobSummary[]; next_cursor: string | null } }>(
    'select leasehold.list_dead_letters($1::text, $2::int, $3::text) as page',
    [input.queue ?? null, input.limit, input.cursor ?? null],
    options,
  );
  return { jobs: row?.page.jobs ?? [], nextCursor: row?.page.next_cursor ?? null };
}
