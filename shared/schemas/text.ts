import { z } from 'zod';

import { stating } from '../parse-with.ts';

/**
 * Text for people, counted in characters as Postgres counts them. Control characters other than tabs and line breaks are
 * refused: they are what one cannot see.
 *
 * @example reason: text(1, 1000)
 */
export function text(min: number, max: number): z.ZodType<string, string> {
  const rule =
    min === 0
      ? `must be a text of at most ${max} characters`
      : `must be a text of ${min} to ${max} characters`;
  return z
    .string(stating(rule))
    .refine((value) => value.isWellFormed() && !/[^\P{Cc}\t\n\r]/u.test(value), rule)
    .refine((value) => hasLength(value, min, max), rule)
    .meta({ minLength: min, maxLength: max, description: rule });
}

/** A key or a tag: data that is compared, so it holds no control characters at all. */
export function keyText(max: number): z.ZodType<string, string> {
  const rule = `must be 1 to ${max} characters, with no control characters`;
  return z
    .string(stating(rule))
    .refine((value) => value.isWellFormed() && !/\p{Cc}/u.test(value), rule)
    .refine((value) => hasLength(value, 1, max), rule)
    .meta({ minLength: 1, maxLength: max, pattern: '^\\P{Cc}*$', description: rule });
}

/** Code points; a text that is far too long is not counted to its end. */
function hasLength(value: string, min: number, max: number): boolean {
  if (value.length > 2 * max) return false;
  const { length } = Array.from(value);
  return length >= min && length <= max;
}
