import { isJsonObject } from '../../shared/json-value.ts';
import type { JsonObject, JsonValue } from '../../shared/json-value.ts';

/** One row: dotted column name to cell. */
export type FlatRow = ReadonlyMap<string, string>;

const NEEDS_QUOTES = /[",\r\n]/;

/**
 * Spreadsheets run a cell that starts with one of these as a formula, so that text from a stranger could act on the
 * reader's machine. Such a cell gets a leading apostrophe, as OWASP advises; numbers keep their sign.
 */
const STARTS_A_FORMULA = /^[=+\-@\t\r]/;

/**
 * An object as one row: nested objects become dotted columns, arrays stay JSON text.
 *
 * @example flattenRow({ user: { login: 'a' }, tags: [1] }) // user.login → a, tags → [1]
 */
export function flattenRow(row: JsonObject): FlatRow {
  const cells = new Map<string, string>();
  addCells(cells, '', row);
  return cells;
}

function addCells(cells: Map<string, string>, prefix: string, object: JsonObject): void {
  for (const [key, value] of Object.entries(object)) {
    const column = `${prefix}${key}`;
    if (isJsonObject(value)) addCells(cells, `${column}.`, value);
    else cells.set(column, cellText(value));
  }
}

function cellText(value: JsonValue): string {
  if (value === null) return '';
  if (typeof value === 'string') return STARTS_A_FORMULA.test(value) ? `'${value}` : value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** A line of CSV per RFC 4180, with its CRLF. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(quoteCell).join(',')}\r\n`;
}

/** Column names come from data as well, so the same guard holds for them. */
export function csvHeader(columns: readonly string[]): string {
  return csvLine(columns.map(cellText));
}

function quoteCell(cell: string): string {
  return NEEDS_QUOTES.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
