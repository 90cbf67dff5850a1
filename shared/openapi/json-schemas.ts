import { z } from 'zod';

import { isJsonObject } from '../json-value.ts';
import type { JsonObject, JsonValue } from '../json-value.ts';
import { COMPONENTS } from './components.ts';
import { FIELD_NOTES } from './field-notes.ts';
import type { Operation } from './operation.ts';

/** The JSON Schemas of a document: messages by component name, and the parameters of each operation. */
export interface JsonSchemas {
  readonly components: Readonly<Record<string, JsonObject>>;
  /** By operation id: an object schema whose properties are the parameters. */
  readonly params: ReadonlyMap<string, JsonObject>;
  readonly queries: ReadonlyMap<string, JsonObject>;
}

/**
 * Turns zod schemas into JSON Schema 2020-12, as senders see them (`io: 'input'`): fields with a default are optional, and
 * answers stay open to new fields. What a refinement demands is stated with `.meta` beside it.
 */
export function jsonSchemas(operations: readonly Operation[]): JsonSchemas {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(COMPONENTS)) registry.add(schema, { id });
  for (const { id, params, query } of operations) {
    if (params !== undefined) registry.add(z.strictObject(params), { id: `params:${id}` });
    // A query may serve two operations, and a schema has one name.
    if (query !== undefined)
      registry.add(
        z.lazy(() => query),
        { id: `query:${id}` },
      );
  }
  const { schemas } = z.toJSONSchema(registry, {
    io: 'input',
    // Custom checks accept anything as far as JSON Schema can tell; their `.meta` says the rest.
    unrepresentable: 'any',
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ zodSchema, jsonSchema }) => {
      // The format says it; the pattern is a page of leap years. And a number in a query is text only on the wire.
      if (jsonSchema.format === 'date-time' || jsonSchema.type === 'integer') {
        delete jsonSchema.pattern;
      }
      // Left out where text becomes a number on the way in.
      const { def } = zodSchema._zod;
      if (def.type === 'default') jsonSchema.default = def.defaultValue;
    },
  });
  const plain = new Map(
    Object.entries(schemas).map(([id, schema]) => [id, withNotes(part(schema))]),
  );
  const named = (prefix: string): Map<string, JsonObject> =>
    new Map(
      [...plain]
        .filter(([id]) => id.startsWith(prefix))
        .map(([id, schema]) => [id.slice(prefix.length), schema]),
    );
  return {
    components: Object.fromEntries(
      Object.keys(COMPONENTS).map((name) => [name, plain.get(name) ?? {}]),
    ),
    params: named('params:'),
    queries: named('query:'),
  };
}

/** A schema of its own as part of a document, which says once for all what `$schema` and `$id` say. */
function part(schema: unknown): JsonObject {
  const { $schema: _dialect, $id: _id, ...rest } = JSON.parse(JSON.stringify(schema)) as JsonObject;
  return rest;
}

/** What a field is for stands before the rule that its values follow. */
function withNotes(schema: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      key === 'properties' && isJsonObject(value) ? notedProperties(value) : inside(value),
    ]),
  );
}

function inside(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => inside(item));
  return isJsonObject(value) ? withNotes(value) : value;
}

function notedProperties(properties: JsonObject): JsonObject {
  const noted: Record<string, JsonValue> = {};
  for (const [name, property] of Object.entries(properties)) {
    noted[name] = isJsonObject(property) ? notedProperty(name, withNotes(property)) : property;
  }
  return noted;
}

function notedProperty(name: string, { description, ...rest }: JsonObject): JsonObject {
  const rule = typeof description === 'string' ? `It ${description}.` : undefined;
  const text = [FIELD_NOTES[name], rule].filter((part) => part !== undefined).join(' ');
  return text === '' ? rest : { description: text, ...rest };
}
