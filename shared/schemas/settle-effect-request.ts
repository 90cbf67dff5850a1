import { z } from 'zod';

import { MAX_EFFECT_RESULT_BYTES } from '../limits.ts';
import { stating } from '../parse-with.ts';
import { jsonWithin } from './json-within.ts';

const STATE_RULE = 'must be "done" or "not_done"';

/** A person says how an effect ended that nobody knows of. */
export const settleEffectRequest = z
  .strictObject(
    {
      state: z.enum(['done', 'not_done'], stating(STATE_RULE)),
      result: jsonWithin(MAX_EFFECT_RESULT_BYTES).optional(),
    },
    stating('must be an object with "state"'),
  )
  .refine((request) => request.state === 'done' || request.result === undefined, {
    path: ['result'],
    message: 'goes with the state "done" alone',
  })
  .meta({ not: { required: ['result'], properties: { state: { const: 'not_done' } } } });

export type SettleEffectRequest = z.infer<typeof settleEffectRequest>;
