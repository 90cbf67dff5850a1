import type pg from 'pg';

/** One node of a plan, as EXPLAIN (format json) gives it. */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Loops'?: number;
  readonly 'Actual Rows'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
}

export interface ExplainedStatement {
  readonly text: string;
  readonly plan: PlanNode;
}

/**
 * Runs one statement and returns the plans that really ran for it and for every statement inside its routines,
 * innermost first; the last is the statement itself. Uses auto_explain on this session.
 */
export async function explained(
  client: pg.PoolClient,
  text: string,
  values: readonly unknown[],
): Promise<ExplainedStatement[]> {
  const statements: ExplainedStatement[] = [];
  const listen = (notice: { message?: string | undefined }): void => {
    const json = /plan:\s*(\{.*\})\s*$/s.exec(notice.message ?? '')?.[1];
    if (json === undefined) return;
    const parsed = JSON.parse(json) as { 'Query Text': string; Plan: PlanNode };
    statements.push({ text: parsed['Query Text'], plan: parsed.Plan });
  };
  await client.query(`
    load 'auto_explain';
    set client_min_messages = notice;
    set auto_explain.log_level = notice;
    set auto_explain.log_min_duration = 0;
    set auto_explain.log_nested_statements = on;
    set auto_explain.log_analyze = on;
    set auto_explain.log_buffers = on;
    set auto_explain.log_timing = off;
    set auto_explain.log_format = json;
  `);
  client.on('notice', listen);
  try {
    await client.query(text, [...values]);
  } finally {
    client.off('notice', listen);
    await client.query('set auto_explain.log_min_duration = -1');
  }
  return statements;
}

/** Every node of a plan, parents before children. */
export function nodes(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodes)];
}

/** Pages that a statement touched, with all statements inside it. */
export function buffers(plan: PlanNode): number {
  return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
}
