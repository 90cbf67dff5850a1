import { z } from 'zod';

import { stating } from '../parse-with.ts';

/**
 * A whole number in a range, both ends included; a fault states the range.
 *
 * @example limit: integer(1, 100).optional()
 */
export function integer(min: number, max: number): z.ZodType<number, number> {
  const rule = `must be an integer from ${min} to ${max}`;
  return z.int(stating(rule)).min(min, rule).max(max, rule);
}

/** The same in a query, where every value arrives as text. */
export function integerText(min: number, max: number): z.ZodType<number, string> {
  const rule = `must be an integer from ${min} to ${max}`;
  return z
    .string(stating(rule))
    .regex(/^[0-9]{1,15}$/, rule)
    .transform(Number)
    .refine((value) => value >= min && value <= max, rule)
    .meta({ type: 'integer', minimum: min, maximum: max });
}

/** A number of seconds, fractions allowed. */
export function seconds(min: number, max: number): z.ZodType<number, number> {
  const rule = `must be a number of seconds from ${min} to ${max}`;
  return z.number(stating(rule)).min(min, rule).max(max, rule);
}
