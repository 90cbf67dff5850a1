import type { Sql, SqlOptions } from '../ports.ts';
import type { JobSummary } from './job.ts';

export interface ListEscalationsInput {
  readonly queue?: string;
  /** 1 to 200. */
  readonly limit: number;
  /** `nextCursor` of the page before. */
  readonly cursor?: string;
  /** Only of these queues, for a caller who may not learn of others. */
  readonly only?: readonly string[];
}

/**
 * Escalated jobs, those that have waited longest first, with who holds them.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field.
 * @example const page = await listEscalations(sql, { queue: 'refunds', limit: 50 });
 */
export async function listEscalations(
  sql: Sql,
  input: ListEscalationsInput,
  options?: SqlOptions,
): Promise<{ readonly jobs: readonly JobSummary[]; readonly nextCursor: string | null }> {
  const [row] = await sql.query<{ page: { jobs: JobSummary[]; next_cursor: string | null } }>(
    'select leasehold.list_escalations($1::text, $2::int, $3::text, $4::jsonb) as page',
    [
      input.queue ?? null,
      input.limit,
      input.cursor ?? null,
      input.only === undefined ? null : JSON.stringify(input.only),
    ],
    options,
  );
  return { jobs: row?.page.jobs ?? [], nextCursor: row?.page.next_cursor ?? null };
}
