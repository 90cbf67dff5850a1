import type { Sql, SqlOptions } from '../ports.ts';

/** The newest migration that this code knows. */
export const SCHEMA_VERSION = 5;

export interface SchemaVersion {
  /** The newest migration of the database. */
  readonly version: number;
  /** Code that knows less than this must not run on it. */
  readonly oldestCode: number;
}

/**
 * What the database says of its schema.
 *
 * @throws {LeaseholdError} `schema_mismatch` when it was never migrated.
 */
export async function readSchemaVersion(sql: Sql, options?: SqlOptions): Promise<SchemaVersion> {
  const [row] = await sql.query<{ version: number; oldest_code: number }>(
    'select * from leasehold.schema_version()',
    [],
    options,
  );
  return { version: row?.version ?? 0, oldestCode: row?.oldest_code ?? 0 };
}
