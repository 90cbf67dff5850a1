import { z } from 'zod';

import type { JsonObject, JsonValue } from '../json-value.ts';

/** What answers are made of. Answers may gain fields: readers take what they know and leave the rest. */

/** An instant as the API gives it, in UTC. */
export const instantText = z.string().meta({ format: 'date-time' });

export const uuidText = z.string().meta({ format: 'uuid' });

/** A 64-bit number as text, since a double would round it. */
export const bigIntText = z.string().meta({ pattern: '^[0-9]{1,19}$' });

export const count = z.int().min(0);

/** Any JSON value, passed through untouched. */
export const anyJson: z.ZodType<JsonValue> = z
  .custom<JsonValue>((value) => value !== undefined)
  .meta({ description: 'any JSON value' });

export const anyObject: z.ZodType<JsonObject> = z
  .custom<JsonObject>((value) => typeof value === 'object' && value !== null)
  .meta({ type: 'object' });

/** Null on the last page. A page may be short and still have one. */
export const nextCursor = z.string().nullable();

/**
 * One of these words today, and perhaps another tomorrow: a reader needs a branch for words that it does not know, and this
 * schema lets them pass. The type names those that this version knows.
 */
export function openEnum<const Word extends string>(words: readonly Word[]): z.ZodType<Word> {
  return z
    .custom<Word>((value) => typeof value === 'string')
    .meta({ type: 'string', 'x-extensible-enum': [...words] });
}
