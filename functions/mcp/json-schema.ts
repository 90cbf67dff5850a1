import { z } from 'zod';

import type { JsonObject } from '../../shared/json-value.ts';

/** The schema of an object, with which clients check what they send and get. */
export type ObjectSchema = JsonObject & { readonly type: 'object' };

/** The JSON Schema of a tool's message, as its sender sees it: answers stay open to new fields. */
export function objectSchema(schema: z.ZodType): ObjectSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    // Custom checks accept anything as far as JSON Schema can tell; their `.meta` says the rest.
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // The format says it; the pattern is a page of leap years.
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
    },
  });
  return { ...(JSON.parse(JSON.stringify(rest)) as JsonObject), type: 'object' };
}
