import { z } from 'zod';

import { jsonTextBytes } from '../json-size.ts';
import type { JsonValue } from '../json-value.ts';

/**
 * Any JSON value up to a size. It passes through untouched: zod would drop a key named `__proto__` from anything it
 * rebuilt.
 *
 * @param maxBytes of compact JSON text in UTF-8
 */
export function jsonWithin(maxBytes: number): z.ZodType<JsonValue, JsonValue> {
  return z
    .custom<JsonValue>((value) => value !== undefined, 'is required; it may be any JSON value')
    .refine(
      (value) => jsonTextBytes(value) <= maxBytes,
      `must be at most ${maxBytes} bytes as JSON text`,
    )
    .meta({
      description: `must be JSON of at most ${maxBytes} bytes as text`,
      'x-max-bytes': maxBytes,
    });
}
