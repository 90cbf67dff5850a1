import { z } from 'zod';

import { defineHandler } from '../../shared/handler.ts';
import { PermanentError } from '../../shared/handler-errors.ts';
import { utf8Bytes } from '../../shared/json-size.ts';
import type { JsonObject } from '../../shared/json-value.ts';
import { MAX_RESULT_BYTES } from '../../shared/limits.ts';
import { csvHeader, csvLine, flattenRow } from './csv-table.ts';
import type { FlatRow } from './csv-table.ts';

const MAX_ROWS = 5000;
const MAX_COLUMNS = 500;
const ROWS_PER_CHUNK = 100;
/** The result is JSON around the text, in which each quote and line end takes two bytes. */
const MAX_CSV_BYTES = MAX_RESULT_BYTES / 2;

/** Passed on as they are: zod would drop a key named `__proto__` from a row it rebuilt. */
const row = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be an object',
);

const schema = z.strictObject({
  title: z.string().max(200).optional(),
  rows: z.array(row).min(1).max(MAX_ROWS),
  /** Which columns, in this order; default: all, in the order in which `jsonb` keeps keys (the shorter first). */
  columns: z.array(z.string().min(1).max(200)).min(1).max(MAX_COLUMNS).optional(),
});

/**
 * `report.csv` in queue `reports`: renders rows as a CSV text and keeps it as the job's result. Rows may be any JSON
 * objects; nested ones become dotted columns.
 *
 * @example { "title": "Orders", "rows": [{ "id": 1, "customer": { "name": "Ada" } }] }
 */
export const csvReport = defineHandler({
  queue: 'reports',
  type: 'report.csv',
  schema,
  leaseSeconds: 30,
  stepSeconds: 10,
  async run(job, context) {
    const rows = job.payload.rows.map(flattenRow);
    const columns = job.payload.columns ?? columnsOf(rows);
    if (columns.length > MAX_COLUMNS) {
      throw new PermanentError(
        'too_many_columns',
        `The rows have more than ${MAX_COLUMNS} columns.`,
      );
    }
    let csv = csvHeader(columns);
    for (let start = 0; start < rows.length; start += ROWS_PER_CHUNK) {
      context.signal.throwIfAborted();
      const chunk = rows.slice(start, start + ROWS_PER_CHUNK);
      csv += chunk.map((cells) => csvLine(columns.map((name) => cells.get(name) ?? ''))).join('');
      context.progress(`${start + chunk.length} of ${rows.length} rows`);
      // Lets a heartbeat and an abort come through between chunks.
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    const bytes = utf8Bytes(csv);
    if (bytes > MAX_CSV_BYTES) {
      throw new PermanentError(
        'report_too_large',
        `The report is ${bytes} bytes; at most ${MAX_CSV_BYTES} are kept. Send fewer rows or name fewer columns.`,
      );
    }
    return { title: job.payload.title ?? null, rows: rows.length, columns: columns.length, csv };
  },
});

function columnsOf(rows: readonly FlatRow[]): string[] {
  return [...new Set(rows.flatMap((cells) => [...cells.keys()]))];
}
