import { buffers, nodes, type ExplainedStatement } from './explained.ts';

/** Pages that one claim may touch, at any depth. */
export const MAX_CLAIM_BUFFERS = 50;

/**
 * What is wrong with the plans of one call of a hot routine: no sort, no bitmap, no sequential scan of a table of ours,
 * no row read and thrown away, and a bound on the pages touched. Empty when all is well.
 */
export function claimFaults(statements: readonly ExplainedStatement[]): string[] {
  const faults: string[] = [];
  for (const { plan, text } of statements) {
    for (const node of nodes(plan)) {
      const type = node['Node Type'];
      const where = `${type} in: ${text.replaceAll(/\s+/g, ' ').slice(0, 120)}`;
      if (/Sort|Bitmap|Seq Scan/.test(type)) faults.push(where);
      if (node['Relation Name'] === 'job_state' && (node['Rows Removed by Filter'] ?? 0) > 0) {
        faults.push(`${node['Rows Removed by Filter']} rows removed by filter, ${where}`);
      }
    }
  }
  const outer = statements.at(-1);
  if (outer === undefined) return ['no statement ran'];
  const pages = buffers(outer.plan);
  if (pages > MAX_CLAIM_BUFFERS) faults.push(`${pages} buffers, more than ${MAX_CLAIM_BUFFERS}`);
  return faults;
}
