/** What JSON text can hold, and nothing else: no `undefined`, no dates, no big integers. */
export type JsonValue =
  null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** A JSON object: the value between braces. */
export type JsonObject = { readonly [key: string]: JsonValue };

/** @example isJsonObject([1]) // false */
export function isJsonObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
