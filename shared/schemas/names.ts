import { z } from 'zod';

import { MAX_QUEUE_NAME_CHARS, MAX_TYPE_NAME_CHARS } from '../limits.ts';
import { QUEUE_NAME_RULE, TYPE_NAME_RULE, isValidName } from '../names.ts';
import { stating } from '../parse-with.ts';

export const queueName = z
  .string(stating(QUEUE_NAME_RULE))
  .refine((name) => isValidName(name, MAX_QUEUE_NAME_CHARS), QUEUE_NAME_RULE)
  .meta({ minLength: 1, maxLength: MAX_QUEUE_NAME_CHARS, description: QUEUE_NAME_RULE });

export const typeName = z
  .string(stating(TYPE_NAME_RULE))
  .refine((name) => isValidName(name, MAX_TYPE_NAME_CHARS), TYPE_NAME_RULE)
  .meta({ minLength: 1, maxLength: MAX_TYPE_NAME_CHARS, description: TYPE_NAME_RULE });
