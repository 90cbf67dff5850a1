import { buffers, nodes, type ExplainedStatement } from './explained.ts';

/** Pages that one claim may touch, at any depth. */
export const MAX_CLAIM_BUFFERS = 50;

/**
 * What is wrong with the plans of one call of a hot routine: no sort, no bitmap, no sequential scan of a table of ours,
 * no row read and thrown away. Empty when all is well.
 *
 * @param sortsItsInput a batch is put in order before anything is read for it
 */
export function planFaults(
  statements: readonly ExplainedStatement[],
  { sortsItsInput = false } = {},
): string[] {
  const faults: string[] = [];
  if (statements.length === 0) faults.push('no statement ran');
  const refused = sortsItsInput ? /Bitmap|Seq Scan/ : /Sort|Bitmap|Seq Scan/;
  for (const { plan, text } of statements) {
    for (const node of nodes(plan)) {
      const type = node['Node Type'];
      const where = `${type} in: ${text.replaceAll(/\s+/g, ' ').slice(0, 120)}`;
      if (refused.test(type)) faults.push(where);
      if (node['Relation Name'] === 'job_state' && (node['Rows Removed by Filter'] ?? 0) > 0) {
        faults.push(`${node['Rows Removed by Filter']} rows removed by filter, ${where}`);
      }
    }
  }
  return faults;
}

/** Plan faults, and more pages than a claim may touch. */
export function claimFaults(statements: readonly ExplainedStatement[]): string[] {
  const faults = planFaults(statements);
  const pages = pagesOf(statements);
  if (pages > MAX_CLAIM_BUFFERS) faults.push(`${pages} buffers, more than ${MAX_CLAIM_BUFFERS}`);
  return faults;
}

/** Pages that a call touched, with all statements inside it. */
export function pagesOf(statements: readonly ExplainedStatement[]): number {
  const outer = statements.at(-1);
  return outer === undefined ? 0 : buffers(outer.plan);
}
