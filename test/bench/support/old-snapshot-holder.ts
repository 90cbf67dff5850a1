import type { BenchDatabase } from './bench-database.ts';

/**
 * Opens a repeatable-read transaction that reads once and stays: from now on vacuum can remove nothing that this
 * snapshot may still see, which is every row version that dies from here on.
 *
 * @returns ends it.
 */
export async function holdSnapshot(
  database: Pick<BenchDatabase, 'connect'>,
): Promise<() => Promise<void>> {
  const client = await database.connect();
  await client.query('begin isolation level repeatable read, read only');
  await client.query('select count(*) from pg_catalog.pg_class');
  return async () => {
    await client.query('rollback');
    await client.end();
  };
}
