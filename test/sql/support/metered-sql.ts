import pg from 'pg';
import { rowTypes } from '../../../shared/database/row-types.ts';
import type { Sql } from '../../../shared/ports.ts';
import { buffers, runExplained, type ExplainedStatement } from './explained.ts';

/** One statement that an operation sent: one round trip. */
export interface MeteredCall {
  readonly text: string;
  /** Pages that it touched, with all statements inside it. */
  readonly pages: number;
  readonly statements: readonly ExplainedStatement[];
}

/** The port that operations take, on one session, with what each statement cost. */
export interface MeteredSql {
  readonly sql: Sql;
  readonly calls: MeteredCall[];
}

export function createMeteredSql(client: pg.PoolClient): MeteredSql {
  const calls: MeteredCall[] = [];
  return {
    calls,
    sql: {
      query: async (text, values) => {
        const query = { text, values: [...values], types: rowTypes(pg.types) };
        const { statements, rows } = await runExplained(client, query);
        const outer = statements.at(-1);
        if (outer === undefined) throw new Error('no statement ran');
        calls.push({ text, pages: buffers(outer.plan), statements });
        return rows as never;
      },
    },
  };
}
