import { isJsonObject } from '../json-value.ts';
import type { JsonObject, JsonValue } from '../json-value.ts';
import { html, inline } from './html.ts';
import type { Html } from './html.ts';

/** The fields of an object schema, one a row. */
export function fieldTable(schema: JsonObject, label: string): Html {
  const required = (schema['required'] ?? []) as readonly string[];
  const fields = Object.entries((schema['properties'] ?? {}) as JsonObject);
  return table(
    `Fields of ${label}`,
    fields.map(([name, field]) => ({ name, field, required: required.includes(name) })),
  );
}

export interface Row {
  readonly name: string;
  readonly field: JsonValue;
  readonly required: boolean;
  readonly description?: string;
}

/** Named values with type, bounds and what they are for. */
export function table(label: string, rows: readonly Row[]): Html {
  return html`<div class="wide" role="region" aria-label="${label}" tabindex="0">
    <table>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Type</th>
          <th scope="col">About</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(row)}
      </tbody>
    </table>
  </div>`;
}

function row({ name, field, required, description }: Row): Html {
  const about = description ?? (isJsonObject(field) ? field['description'] : undefined);
  return html`<tr>
    <th scope="row"><code>${name}</code>${required ? html` <em>required</em>` : undefined}</th>
    <td>${typeOf(field)}</td>
    <td>${typeof about === 'string' ? inline(about) : undefined}</td>
  </tr>`;
}

/** A type in a few words, with links to messages. */
export function typeOf(schema: JsonValue | undefined): Html {
  if (schema === undefined || !isJsonObject(schema)) return html`any`;
  const { $ref } = schema;
  if (typeof $ref === 'string') {
    const name = $ref.split('/').at(-1) ?? '';
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  const union = schema['anyOf'];
  if (Array.isArray(union)) return joined((union as readonly JsonValue[]).map(typeOf), ' or ');
  if (schema['const'] !== undefined) return html`<code>${JSON.stringify(schema['const'])}</code>`;
  const words = schema['enum'] ?? schema['x-extensible-enum'];
  if (Array.isArray(words)) {
    const listed = (words as readonly JsonValue[]).map(
      (word) => html`<code>${JSON.stringify(word)}</code>`,
    );
    const more = schema['enum'] === undefined ? html`, perhaps others` : undefined;
    return html`${joined(listed, ', ')}${more}`;
  }
  if (schema['type'] === 'array') return html`list of ${typeOf(schema['items'])}${bounds(schema)}`;
  if (schema['type'] === 'object' && schema['properties'] !== undefined) return nested(schema);
  const name = typeof schema['type'] === 'string' ? schema['type'] : 'any JSON';
  const format = schema['format'];
  return html`${format === 'date-time' ? 'instant' : format === 'uuid' ? 'UUID' : name}${bounds(schema)}`;
}

function nested(schema: JsonObject): Html {
  const fields = Object.entries((schema['properties'] ?? {}) as JsonObject);
  return html`object
    <dl>
      ${fields.map(
        ([name, field]) =>
          html`<dt><code>${name}</code></dt>
            <dd>${typeOf(field)}</dd>`,
      )}
    </dl>`;
}

const BOUNDS: readonly (readonly [least: string, most: string, unit: string])[] = [
  ['minimum', 'maximum', ''],
  ['minLength', 'maxLength', ' characters'],
  ['minItems', 'maxItems', ' items'],
  ['minProperties', 'maxProperties', ' fields'],
];

/** Ranges that a person would name: what the number type itself forbids is none. */
function bounds(schema: JsonObject): Html {
  const ranges = BOUNDS.flatMap(([least, most, unit]) => {
    const from = limit(schema[least]);
    const to = limit(schema[most]);
    if (from === undefined && to === undefined) return [];
    if (to === undefined) return from === 0 ? [] : [`at least ${shown(from)}${unit}`];
    return [
      from === undefined ? `at most ${shown(to)}${unit}` : `${shown(from)} to ${shown(to)}${unit}`,
    ];
  });
  const standard = schema['default'];
  const all = standard === undefined ? ranges : [...ranges, `default ${JSON.stringify(standard)}`];
  return html`${all.map((range) => `, ${range}`)}`;
}

function limit(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER ? value : undefined;
}

function shown(value: number | undefined): string {
  return (value ?? 0).toLocaleString('en-US');
}

function joined(parts: readonly Html[], between: string): Html {
  return html`${parts.map((part, at) => (at === 0 ? part : html`${between}${part}`))}`;
}
