import type pg from 'pg';

/** One node of a plan, as EXPLAIN (format json) gives it. */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Loops'?: number;
  readonly 'Actual Rows'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Subplans Removed'?: number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
}

export interface ExplainedStatement {
  readonly text: string;
  readonly plan: PlanNode;
}

/** The plans of one statement, and the rows that it gave. */
export interface ExplainedResult<Row> {
  readonly statements: readonly ExplainedStatement[];
  readonly rows: Row[];
}

/**
 * Runs one statement and returns the plans that really ran for it and for every statement inside its routines,
 * innermost first; the last is the statement itself. Uses auto_explain on this session, outside a transaction block.
 */
export async function explained(
  client: pg.PoolClient,
  text: string,
  values: readonly unknown[],
): Promise<readonly ExplainedStatement[]> {
  return (await runExplained(client, { text, values: [...values] })).statements;
}

/** The same, with the rows. */
export async function runExplained<Row extends pg.QueryResultRow>(
  client: pg.PoolClient,
  query: pg.QueryConfig,
): Promise<ExplainedResult<Row>> {
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
    const { rows } = await client.query<Row>(query);
    return { statements, rows };
  } finally {
    client.off('notice', listen);
    await client.query('set auto_explain.log_min_duration = -1');
  }
}

/** Every node of a plan, parents before children. */
export function nodes(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodes)];
}

/** Pages that a statement touched, with all statements inside it. */
export function buffers(plan: PlanNode): number {
  return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
}
