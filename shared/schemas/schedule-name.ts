import { z } from 'zod';

import { MAX_SCHEDULE_NAME_CHARS } from '../limits.ts';
import { isValidName, nameRule } from '../names.ts';
import { stating } from '../parse-with.ts';

const RULE = nameRule(MAX_SCHEDULE_NAME_CHARS);

export const scheduleName = z
  .string(stating(RULE))
  .refine((name) => isValidName(name, MAX_SCHEDULE_NAME_CHARS), RULE)
  .meta({ minLength: 1, maxLength: MAX_SCHEDULE_NAME_CHARS, description: RULE });
