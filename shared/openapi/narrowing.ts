import { isJsonObject } from '../json-value.ts';
import type { JsonObject, JsonValue } from '../json-value.ts';
import { lookUp } from './look-up.ts';

/** A schema with the document that its references point into. */
export interface Side {
  readonly document: JsonObject;
  readonly schema: JsonValue | undefined;
}

/** How the same finding is told of a request and of an answer. */
export interface Words {
  readonly nothing: string;
  moved(rule: string, given: string, taken: string): string;
  value(value: string): string;
  only(values: string): string;
  /** @param known whether the field is still described */
  required(known: boolean): string;
  readonly unknown: string;
  readonly unsent?: string;
}

export const REQUEST_WORDS: Words = {
  nothing: 'nothing is taken any more',
  moved: (rule, given, taken) => `${rule} ${given} → ${taken}`,
  value: (value) => `the value ${value} is refused from now on`,
  only: (values) => `only ${values} from now on`,
  required: () => 'is required from now on',
  unknown: 'is refused from now on',
};

export const ANSWER_WORDS: Words = {
  nothing: 'was never there, and now is',
  moved: (rule, given, taken) => `${rule} ${taken} → ${given}`,
  value: (value) => `may be ${value} from now on`,
  only: (values) => `may be other than ${values} from now on`,
  required: (known) => (known ? 'may be missing from now on' : 'is gone'),
  unknown: 'was never there, and now is',
  unsent: 'is gone',
};

/** Bounds of which a smaller one lets less through, and those of which a larger one does. */
const UPPER = [
  'maximum',
  'exclusiveMaximum',
  'maxLength',
  'maxItems',
  'maxProperties',
  'x-max-bytes',
];
const LOWER = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'];
/** Rules that are the same or are not: no attempt is made to tell which of two is stricter. */
const WHOLE = [
  'pattern',
  'format',
  'multipleOf',
  'uniqueItems',
  'not',
  'if',
  'then',
  'else',
  'allOf',
  'propertyNames',
  'dependentRequired',
  'dependentSchemas',
];
const ADDITIONAL = 'additionalProperties';

const MAX_DEPTH = 20;

/**
 * What `wide` lets through and `narrow` may refuse, each with its place; empty when `narrow` takes all that `wide` does. Errs
 * on the strict side: rules that it cannot compare count as narrower when they differ.
 *
 * For a request, `wide` is the schema of before; for an answer it is the one of now, since a reader of before must be able
 * to take all that may come. `words` say the same thing in the right order.
 *
 * @example narrowing({ document, schema: { maximum: 9 } }, { document, schema: { maximum: 5 } }, REQUEST_WORDS, 'limit')
 * // ['limit: maximum 9 → 5']
 */
export function narrowing(wide: Side, narrow: Side, words: Words, place: string): string[] {
  return compared({ wide, narrow, words, place, depth: 0 });
}

interface Comparison {
  readonly wide: Side;
  readonly narrow: Side;
  readonly words: Words;
  readonly place: string;
  readonly depth: number;
}

function compared(at: Comparison): string[] {
  if (at.depth > MAX_DEPTH) return [];
  const from = resolved(at.wide);
  const to = resolved(at.narrow);
  if (to === true || to === undefined || from === false) return [];
  if (!isJsonObject(to)) return [`${at.place}: ${at.words.nothing}`];
  const given = from !== undefined && isJsonObject(from) ? from : {};
  const taken = alternativesOf(to);
  const givenEach = alternativesOf(given);
  if (taken !== undefined || givenEach !== undefined) {
    return comparedUnion(at, givenEach ?? [given], taken ?? [to]);
  }
  return [
    ...comparedType(at, given, to),
    ...comparedValues(at, given, to),
    ...comparedBounds(at, given, to),
    ...WHOLE.filter((rule) => to[rule] !== undefined && !same(given[rule], to[rule])).map((rule) =>
      moved(at, rule, given, to),
    ),
    ...comparedObject(at, given, to),
    ...(to['items'] === undefined ? [] : inner(at, '[]', given['items'], to['items'])),
  ];
}

/** Follows references, and merges what stands beside one: both rules hold. */
function resolved({ document, schema }: Side): JsonValue | undefined {
  let current = schema;
  for (let steps = 0; steps < MAX_DEPTH; steps += 1) {
    if (current === undefined || !isJsonObject(current)) return current;
    const { $ref, ...beside } = current;
    if (typeof $ref !== 'string') return current;
    const target = lookUp(document, $ref);
    if (target === undefined || !isJsonObject(target)) return beside;
    current = merged(target, beside);
  }
  return current;
}

function merged(base: JsonObject, beside: JsonObject): JsonObject {
  const properties: Record<string, JsonValue> = { ...objectOf(base['properties']) };
  for (const [name, rule] of Object.entries(objectOf(beside['properties']))) {
    properties[name] = isJsonObject(rule) ? { ...objectOf(properties[name]), ...rule } : rule;
  }
  return { ...base, ...beside, ...(Object.keys(properties).length === 0 ? {} : { properties }) };
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}

function alternativesOf(schema: JsonObject): readonly JsonValue[] | undefined {
  const union = schema['anyOf'] ?? schema['oneOf'];
  return Array.isArray(union) ? (union as readonly JsonValue[]) : undefined;
}

/** Each thing that comes must fit one of those that are taken. */
function comparedUnion(
  at: Comparison,
  given: readonly JsonValue[],
  taken: readonly JsonValue[],
): string[] {
  return given.flatMap((alternative) => {
    const tries = taken.map((one) => inner(at, '', alternative, one));
    if (tries.some((faults) => faults.length === 0)) return [];
    // Of all that it does not fit, the one that it misses least says most.
    return tries.toSorted((one, other) => one.length - other.length)[0] ?? [];
  });
}

function comparedType(at: Comparison, given: JsonObject, to: JsonObject): string[] {
  const types = typesOf(to);
  if (types === undefined) return [];
  const fits = typesOf(given)?.every(
    (type) => types.includes(type) || (type === 'integer' && types.includes('number')),
  );
  return fits === true ? [] : [moved(at, 'type', given, to)];
}

function typesOf(schema: JsonObject): readonly JsonValue[] | undefined {
  const type = schema['type'];
  if (type === undefined) return undefined;
  return Array.isArray(type) ? (type as readonly JsonValue[]) : [type];
}

function comparedValues(at: Comparison, given: JsonObject, to: JsonObject): string[] {
  const taken = valuesOf(to);
  if (taken === undefined) return [];
  const values = valuesOf(given);
  if (values === undefined) return [`${at.place}: ${at.words.only(shown(taken))}`];
  return values
    .filter((value) => !taken.some((one) => same(one, value)))
    .map((value) => `${at.place}: ${at.words.value(shown(value))}`);
}

function valuesOf(schema: JsonObject): readonly JsonValue[] | undefined {
  if (schema['const'] !== undefined) return [schema['const']];
  const values = schema['enum'];
  return Array.isArray(values) ? (values as readonly JsonValue[]) : undefined;
}

function comparedBounds(at: Comparison, given: JsonObject, to: JsonObject): string[] {
  const upper = UPPER.filter(
    (bound) => number(to, bound, Infinity) < number(given, bound, Infinity),
  );
  const lower = LOWER.filter(
    (bound) => number(to, bound, -Infinity) > number(given, bound, -Infinity),
  );
  return [...upper, ...lower].map((bound) => moved(at, bound, given, to));
}

function number(schema: JsonObject, bound: string, otherwise: number): number {
  const value = schema[bound];
  return typeof value === 'number' ? value : otherwise;
}

function comparedObject(at: Comparison, given: JsonObject, to: JsonObject): string[] {
  const { words, place } = at;
  const givenFields = objectOf(given['properties']);
  const takenFields = objectOf(to['properties']);
  const always = (given['required'] ?? []) as readonly string[];
  const required = ((to['required'] ?? []) as readonly string[])
    .filter((name) => !always.includes(name))
    .map((name) => `${place}.${name}: ${words.required(Object.hasOwn(givenFields, name))}`);
  const closed = to['additionalProperties'] === false;
  const fields = Object.entries(givenFields).flatMap(([name, field]) => {
    const taken = takenFields[name];
    if (taken !== undefined) return inner(at, `.${name}`, field, taken);
    return closed ? [`${place}.${name}: ${words.unknown}`] : [];
  });
  const { [ADDITIONAL]: open } = given;
  const { [ADDITIONAL]: others } = to;
  const rest = others === undefined || open === false ? [] : inner(at, '.*', open, others);
  return [...required, ...fields, ...rest, ...comparedOptional(at, givenFields, to)];
}

/** A field that was there now and then is missed as well. */
function comparedOptional(at: Comparison, givenFields: JsonObject, to: JsonObject): string[] {
  if (at.words.unsent === undefined) return [];
  const always = (to['required'] ?? []) as readonly string[];
  return Object.keys(objectOf(to['properties']))
    .filter((name) => !Object.hasOwn(givenFields, name) && !always.includes(name))
    .map((name) => `${at.place}.${name}: ${at.words.unsent}`);
}

function inner(
  at: Comparison,
  step: string,
  from: JsonValue | undefined,
  to: JsonValue | undefined,
): string[] {
  return compared({
    ...at,
    wide: { ...at.wide, schema: from },
    narrow: { ...at.narrow, schema: to },
    place: `${at.place}${step}`,
    depth: at.depth + 1,
  });
}

function moved(at: Comparison, rule: string, given: JsonObject, to: JsonObject): string {
  return `${at.place}: ${at.words.moved(rule, shown(given[rule]), shown(to[rule]))}`;
}

function same(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function shown(value: JsonValue | undefined): string {
  return value === undefined ? 'none' : JSON.stringify(value);
}
