import { isJsonObject } from '../json-value.ts';
import type { JsonObject, JsonValue } from '../json-value.ts';

/**
 * What a reference within a document points at.
 *
 * @param ref `#/components/schemas/Job`
 */
export function lookUp(document: JsonObject, ref: string): JsonValue | undefined {
  let current: JsonValue | undefined = document;
  for (const part of ref.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    current =
      current !== undefined && isJsonObject(current) && Object.hasOwn(current, name)
        ? current[name]
        : undefined;
  }
  return current;
}

/** An object of the document, with a reference followed; the empty one when there is none. */
export function objectAt(document: JsonObject, value: JsonValue | undefined): JsonObject {
  if (value === undefined || !isJsonObject(value)) return {};
  const { $ref } = value;
  if (typeof $ref !== 'string') return value;
  return objectAt(document, lookUp(document, $ref));
}
