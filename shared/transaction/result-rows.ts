import { LeaseholdError } from '../errors.ts';

/** One row of a known statement, read by the names of its columns. */
export interface ResultRow {
  text(column: string): string;
  integer(column: string): number;
  flag(column: string): boolean;
  time(column: string): Date;
}

/**
 * Reads what a driver answered, in any of the shapes they give it: rows or an object with `rows`; a row as an object,
 * its keys as they are or in camel, Pascal or kebab case, or as a list of values; times as `Date` or as text.
 *
 * @param result what the driver gave
 * @param columns of the statement, in order
 * @throws {LeaseholdError} `database_error` when it is not the answer to this statement
 */
export function resultRows(result: unknown, columns: readonly string[]): ResultRow[] {
  const rows: unknown = isRecord(result) && !Array.isArray(result) ? result['rows'] : result;
  if (!Array.isArray(rows)) throw unreadable('no rows');
  return rows.map((row: unknown) => resultRow(row, columns));
}

function resultRow(row: unknown, columns: readonly string[]): ResultRow {
  const valueOf = valuesByColumn(row, columns);
  return {
    text(column) {
      const value = valueOf(column);
      return typeof value === 'string' ? value : refuse(column, 'text');
    },
    integer(column) {
      const value = Number(valueOf(column));
      return Number.isSafeInteger(value) ? value : refuse(column, 'an integer');
    },
    flag(column) {
      const value = valueOf(column);
      return typeof value === 'boolean' ? value : refuse(column, 'a boolean');
    },
    time(column) {
      const value = valueOf(column);
      const time = typeof value === 'string' ? timeOfText(value) : value;
      return time instanceof Date && !Number.isNaN(time.getTime())
        ? time
        : refuse(column, 'a time');
    },
  };
}

function valuesByColumn(row: unknown, columns: readonly string[]): (column: string) => unknown {
  if (Array.isArray(row)) return (column) => row[columns.indexOf(column)] as unknown;
  if (!isRecord(row)) throw unreadable('a row that is not a row');
  const values = new Map(Object.entries(row).map(([name, value]) => [plain(name), value]));
  return (column) => values.get(plain(column));
}

/** `dueAt`, `DueAt`, `due-at` and `due_at` are one column. */
function plain(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase();
}

/** Postgres writes `2026-11-30 08:41:25.123456+00`, JSON has a `T` and a longer offset. */
const TIME = /^(\d{4,}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(\.\d{1,3})?\d*(?:Z|([+-]\d\d)(?::?(\d\d))?)$/;

function timeOfText(text: string): Date | undefined {
  const [, day, time, fraction = '', hours = '+00', minutes = '00'] = TIME.exec(text) ?? [];
  return day === undefined ? undefined : new Date(`${day}T${time}${fraction}${hours}:${minutes}`);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function refuse(column: string, wanted: string): never {
  throw unreadable(`a row whose ${column} is not ${wanted}`);
}

function unreadable(found: string): LeaseholdError {
  return new LeaseholdError('database_error', `The database driver gave ${found}.`);
}
