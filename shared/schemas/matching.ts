import { z } from 'zod';

import { MAX_SETTLED_JOBS } from '../limits.ts';
import { stating } from '../parse-with.ts';
import { instant } from './instant.ts';
import { integer } from './integer.ts';
import { queueName, typeName } from './names.ts';
import { settlingReason } from './settling.ts';
import { keyText } from './text.ts';

const MAX_DEAD_REASON_CHARS = 100;
const FILTER_RULE = 'must be an object with any of "queue", "type", "reason", "from" and "until"';

/** Which dead jobs: at least one part, so that "all of them" is never what a slip says. */
const filter = z
  .strictObject(
    {
      queue: queueName.optional(),
      type: typeName.optional(),
      reason: keyText(MAX_DEAD_REASON_CHARS).optional(),
      from: instant.optional(),
      until: instant.optional(),
    },
    stating(FILTER_RULE),
  )
  .refine((parts) => Object.values(parts).some((part) => part !== undefined), FILTER_RULE)
  .meta({ minProperties: 1, description: FILTER_RULE });

/** Fields of both bulk forms. A dry run changes nothing, so it needs no count and no reason. */
export const matchingFields = {
  filter,
  expected_count: integer(0, MAX_SETTLED_JOBS).optional(),
  reason: settlingReason.optional(),
  dry_run: z.boolean(stating('must be true or false')).optional(),
};

interface Matching {
  readonly expected_count?: number | undefined;
  readonly reason?: string | undefined;
  readonly dry_run?: boolean | undefined;
}

/** The same for whoever reads the schema alone: never both without a dry run and without the two fields. */
export const COUNT_AND_REASON = {
  not: {
    allOf: [
      { not: { properties: { dry_run: { const: true } }, required: ['dry_run'] } },
      { not: { required: ['expected_count', 'reason'] } },
    ],
  },
};

/** The real thing names the count that a person saw, and a reason. */
export function requireCountAndReason(request: Matching, context: z.RefinementCtx): void {
  if (request.dry_run === true) return;
  for (const field of ['expected_count', 'reason'] as const) {
    if (request[field] !== undefined) continue;
    context.addIssue({
      code: 'custom',
      path: [field],
      message: 'is required unless "dry_run" is true',
    });
  }
}
