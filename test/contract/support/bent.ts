import type { JsonObject } from '../../../shared/json-value.ts';
import { GENERATED } from './documents.ts';

/** A document that a test may bend. */
export type Bent = { [key: string]: Bent };

export function bent(bend: (document: Bent) => void, base: JsonObject = GENERATED): JsonObject {
  const copy = structuredClone(base) as unknown as Bent;
  bend(copy);
  return copy as unknown as JsonObject;
}

/** What is at a path of keys; it has to be there, or the test bends nothing. */
export function at(document: Bent, ...keys: readonly string[]): Bent {
  let current: Bent = document;
  for (const key of keys) {
    const next: Bent | undefined = current[key];
    if (next === undefined) throw new Error(`nothing at ${keys.join(' / ')}`);
    current = next;
  }
  return current;
}

export const set = (place: Bent, key: string, value: unknown): void => {
  Object.assign(place, { [key]: value });
};
export const schema = (document: Bent, name: string): Bent =>
  at(document, 'components', 'schemas', name);
export const field = (document: Bent, name: string, property: string): Bent =>
  at(schema(document, name), 'properties', property);
export const enqueue = (document: Bent): Bent => at(document, 'paths', '/v1/jobs', 'post');
export const remove = (list: unknown, value: string): string[] =>
  (list as string[]).filter((one) => one !== value);
