import type pg from 'pg';
import { removeDeadEntries } from './old-snapshot.ts';

/**
 * Pages that a call touches whatever else the server does: the least of five, so that a page that was just split does not
 * count, beginning without dead entries. The first call reads catalogs and is left out.
 */
export async function steadyPages(pool: pg.Pool, measure: () => Promise<number>): Promise<number> {
  await removeDeadEntries(pool);
  await measure();
  const pages: number[] = [];
  while (pages.length < 5) pages.push(await measure());
  return Math.min(...pages);
}
