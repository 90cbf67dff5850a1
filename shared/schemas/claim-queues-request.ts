import { z } from 'zod';

import { MAX_CLAIM_QUEUES, MAX_WEIGHT } from '../limits.ts';
import { stating } from '../parse-with.ts';
import { claimFields } from './claim-request.ts';
import { integer } from './integer.ts';
import { queueName } from './names.ts';

const QUEUES_RULE = `must be an array of 1 to ${MAX_CLAIM_QUEUES} queues, each a name or {"name", "weight"}`;
const DEFAULT_WEIGHT = 1;

const weighted = z.union(
  [
    queueName.transform((name) => ({ name, weight: DEFAULT_WEIGHT })),
    z.strictObject({ name: queueName, weight: integer(1, MAX_WEIGHT).default(DEFAULT_WEIGHT) }),
  ],
  stating(
    `must be the name of a queue, or an object with "name" and a "weight" from 1 to ${MAX_WEIGHT}`,
  ),
);

/** A claim from several queues by weighted rotation. */
export const claimQueuesRequest = z.strictObject(
  {
    queues: z
      .array(weighted, stating(QUEUES_RULE))
      .min(1, QUEUES_RULE)
      .max(MAX_CLAIM_QUEUES, QUEUES_RULE)
      .refine(
        (queues) => new Set(queues.map(({ name }) => name)).size === queues.length,
        'names a queue more than once',
      ),
    ...claimFields,
  },
  stating('must be an object with "queues"'),
);

export type ClaimQueuesRequest = z.infer<typeof claimQueuesRequest>;
