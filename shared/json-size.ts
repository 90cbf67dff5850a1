import type { JsonValue } from './json-value.ts';

/**
 * Bytes of the value as compact JSON text in UTF-8: the measure of every size limit.
 *
 * @example jsonTextBytes({ a: 'é' }) // 10
 */
export function jsonTextBytes(value: JsonValue): number {
  return utf8Bytes(JSON.stringify(value));
}

/** Bytes of a text in UTF-8. */
export function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}
