import { z } from 'zod';

import { MAX_NOTE_CHARS, MAX_OWNER_CHARS } from '../limits.ts';
import { stating } from '../parse-with.ts';
import { keyText, text } from './text.ts';

/** Who looks after a dead job, and what they know. */
export const noteDeadLetterRequest = z
  .strictObject(
    {
      owner: keyText(MAX_OWNER_CHARS).optional(),
      note: text(0, MAX_NOTE_CHARS).optional(),
    },
    stating('must be an object with "owner" or "note"'),
  )
  .refine((request) => request.owner !== undefined || request.note !== undefined, {
    message: 'must have "owner" or "note"',
  })
  .meta({ minProperties: 1 });

export type NoteDeadLetterRequest = z.infer<typeof noteDeadLetterRequest>;
