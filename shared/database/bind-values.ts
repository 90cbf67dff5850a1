import type { SqlValue } from '../ports.ts';

/**
 * Refuses a parameter that drivers would encode each in its own way: a `Date` (text with the process's own offset), an
 * array (a Postgres array literal, which is not what a jsonb column wants), bytes, an object, `undefined`, a bigint.
 * Strings, numbers, booleans and null have one text form everywhere. Send JSON as `JSON.stringify(value)` with
 * `$1::jsonb`, a time as its ISO text with `$1::timestamptz`, a 64-bit number as text.
 *
 * The types say the same; this guards values that come from `JSON.parse` and from casts.
 *
 * @throws {TypeError} naming the place, never the value.
 */
export function checkBindable(values: readonly SqlValue[]): void {
  values.forEach((value: unknown, index) => {
    if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return;
    const found = Array.isArray(value) ? 'an array' : `of type ${typeof value}`;
    throw new TypeError(
      `Parameter $${index + 1} is ${found}: bind text, a number, a boolean or null.`,
    );
  });
}
