/** The years that RFC 3339 and Postgres can both write with four digits; the past only ever means "now". */
const EARLIEST_MS = 0;
const LATEST_MS = Date.UTC(9999, 11, 31);

/**
 * An RFC 3339 instant in the one form that Postgres reads whatever was written: UTC, milliseconds, four digits of year.
 * RFC 3339 allows a year 0000, offsets up to 23:59 and fractions of any length; Postgres refuses each of them.
 *
 * @param text an RFC 3339 date and time with a zone
 * @returns the instant, brought between 1970 and 9999
 * @example utcInstant('2030-01-31T12:00:00.123456+05:30') // '2030-01-31T06:30:00.123Z'
 */
export function utcInstant(text: string): string {
  const ms = Math.min(Math.max(Date.parse(text), EARLIEST_MS), LATEST_MS);
  return new Date(ms).toISOString();
}
