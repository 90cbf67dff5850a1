import { z } from 'zod';

import { utcInstant } from '../instant.ts';
import { stating } from '../parse-with.ts';

const RULE = 'must be an RFC 3339 date and time with a zone, such as "2030-01-31T12:00:00Z"';

/** An instant, in the one form that Postgres reads whatever was written. */
export const instant = z.iso
  .datetime({ offset: true, ...stating(RULE) })
  .transform(utcInstant)
  .meta({ description: RULE });
