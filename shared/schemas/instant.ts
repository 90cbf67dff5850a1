import { z } from 'zod';

import { stating } from '../parse-with.ts';

const RULE =
  'must be an RFC 3339 date and time with a zone, such as "2030-01-31T12:00:00Z", from 1970 to 9999';
const FIRST_MS = 0;
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * An instant, brought to UTC and milliseconds: what a reader of RFC 3339 accepts and Postgres does not (year 0, a zone of
 * +23:59) never reaches the database.
 */
export const instant = z.iso
  .datetime({ offset: true, ...stating(RULE) })
  .refine((value) => Date.parse(value) >= FIRST_MS && Date.parse(value) <= LAST_MS, RULE)
  .transform((value) => new Date(value).toISOString())
  .meta({ description: RULE });
