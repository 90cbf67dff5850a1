import { z } from 'zod';

import { stating } from '../parse-with.ts';
import { instant } from './instant.ts';
import { priority } from './priority.ts';

/** Changes a pending job. */
export const editJobRequest = z
  .strictObject(
    { due_at: instant.optional(), priority: priority.optional() },
    stating('must be an object with "due_at" or "priority"'),
  )
  .refine((edit) => edit.due_at !== undefined || edit.priority !== undefined, {
    message: 'must have "due_at" or "priority"',
  })
  .meta({ minProperties: 1 });

export type EditJobRequest = z.infer<typeof editJobRequest>;
