import type { JsonObject, JsonValue } from '../json-value.ts';
import { objectAt } from './look-up.ts';
import { ANSWER_WORDS, REQUEST_WORDS, narrowing } from './narrowing.ts';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const JSON_BODY = 'application/json';
const PROBLEM_BODY = 'application/problem+json';

/**
 * What a client written against `base` could trip over in `next`, one sentence each; empty when nothing breaks.
 *
 * Breaking: a route, parameter, answer, field of an answer or error code that is gone; something new that is required of a
 * request; anything that a request may no longer hold, or an answer newly may; another scope. New routes, optional
 * parameters, fields of answers and words of an `x-extensible-enum` are not.
 *
 * @param base OpenAPI 3.1 document that clients rely on
 * @example breakingChanges(released, openapiDocument(PROBLEMS)) // ['GET /v1/jobs: the route is gone']
 */
export function breakingChanges(base: JsonObject, next: JsonObject): string[] {
  const paths = objectAt(base, base['paths']);
  return Object.entries(paths).flatMap(([path, ofPath]) =>
    METHODS.flatMap((method) => {
      const before = objectAt(base, objectAt(base, ofPath)[method]);
      if (before['responses'] === undefined) return [];
      const place = `${method.toUpperCase()} ${path}`;
      const after = objectAt(next, objectAt(next, objectAt(next, next['paths'])[path])[method]);
      if (after['responses'] === undefined) return [`${place}: the route is gone`];
      const pair: Pair = { base, next, before, after, place };
      return [
        ...changedScope(pair),
        ...changedName(pair),
        ...narrowedParameters(pair),
        ...narrowedBody(pair),
        ...changedAnswers(pair),
      ];
    }),
  );
}

/** One operation in both documents. */
interface Pair {
  readonly base: JsonObject;
  readonly next: JsonObject;
  readonly before: JsonObject;
  readonly after: JsonObject;
  readonly place: string;
}

function changedScope({ before, after, place }: Pair): string[] {
  const [was, is] = [before['security'], after['security']].map((security) =>
    JSON.stringify(security),
  );
  return was === is
    ? []
    : [`${place}: who may call it has changed, ${was ?? 'none'} → ${is ?? 'none'}`];
}

/** Generated clients name their methods by it. */
function changedName({ before, after, place }: Pair): string[] {
  const [was, is] = [before['operationId'], after['operationId']];
  return was === is ? [] : [`${place}: operationId ${JSON.stringify(was)} → ${JSON.stringify(is)}`];
}

function narrowedParameters({ base, next, before, after, place }: Pair): string[] {
  const known = parametersOf(base, before);
  const taken = parametersOf(next, after);
  const gone = [...known].flatMap(([key, parameter]) => {
    const at = `${place}: ${key}`;
    const now = taken.get(key);
    if (now === undefined) return [`${at} is gone`];
    return [
      ...(now['required'] === true && parameter['required'] !== true
        ? [`${at} is required from now on`]
        : []),
      ...narrowing(
        { document: base, schema: parameter['schema'] },
        { document: next, schema: now['schema'] },
        REQUEST_WORDS,
        at,
      ),
    ];
  });
  const fresh = [...taken].filter(([key, now]) => !known.has(key) && now['required'] === true);
  return [...gone, ...fresh.map(([key]) => `${place}: ${key} is required from now on`)];
}

function parametersOf(document: JsonObject, operation: JsonObject): Map<string, JsonObject> {
  const parameters = (operation['parameters'] ?? []) as readonly JsonValue[];
  return new Map(
    parameters.map((one) => {
      const parameter = objectAt(document, one);
      return [`${textOf(parameter['in'])} parameter ${textOf(parameter['name'])}`, parameter];
    }),
  );
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function narrowedBody({ base, next, before, after, place }: Pair): string[] {
  const body = objectAt(base, before['requestBody']);
  const now = objectAt(next, after['requestBody']);
  const at = `${place}: body`;
  if (body['content'] === undefined) {
    return now['required'] === true ? [`${at} is required from now on`] : [];
  }
  if (now['content'] === undefined) return [`${at} is gone`];
  const required = now['required'] === true && body['required'] !== true;
  return [
    ...(required ? [`${at} is required from now on`] : []),
    ...narrowing(
      { document: base, schema: schemaOf(base, body, JSON_BODY) },
      { document: next, schema: schemaOf(next, now, JSON_BODY) },
      REQUEST_WORDS,
      at,
    ),
  ];
}

function changedAnswers({ base, next, before, after, place }: Pair): string[] {
  const answers = objectAt(next, after['responses']);
  return Object.entries(objectAt(base, before['responses'])).flatMap(([status, one]) => {
    const answer = objectAt(base, one);
    const at = `${place}: answer ${status}`;
    const now = objectAt(next, answers[status]);
    if (Number(status) >= 400) {
      const codes = codesOf(next, now);
      return codesOf(base, answer)
        .filter((code) => !codes.includes(code))
        .map((code) => `${at}: the error code ${code} is gone`);
    }
    if (now['description'] === undefined) return [`${at} is gone`];
    return [...lostHeaders(answer, now, at), ...changedAnswerBody({ base, next }, answer, now, at)];
  });
}

function lostHeaders(answer: JsonObject, now: JsonObject, at: string): string[] {
  const names = Object.keys((now['headers'] ?? {}) as JsonObject);
  return Object.keys((answer['headers'] ?? {}) as JsonObject)
    .filter((name) => !names.includes(name))
    .map((name) => `${at}: the header ${name} is gone`);
}

/** A reader must be able to take all that may come: the answer of before must be at least as wide as that of now. */
function changedAnswerBody(
  { base, next }: Pick<Pair, 'base' | 'next'>,
  answer: JsonObject,
  now: JsonObject,
  at: string,
): string[] {
  const types = Object.keys((answer['content'] ?? {}) as JsonObject);
  const left = Object.keys((now['content'] ?? {}) as JsonObject);
  const gone = types.filter((type) => !left.includes(type)).map((type) => `${at}: ${type} is gone`);
  if (!types.includes(JSON_BODY) || gone.length > 0) return gone;
  return narrowing(
    { document: next, schema: schemaOf(next, now, JSON_BODY) },
    { document: base, schema: schemaOf(base, answer, JSON_BODY) },
    ANSWER_WORDS,
    `${at}: body`,
  );
}

function codesOf(document: JsonObject, answer: JsonObject): readonly string[] {
  const schema = schemaOf(document, answer, PROBLEM_BODY);
  const properties = objectAt(document, (schema as JsonObject | undefined)?.['properties']);
  return (objectAt(document, properties['code'])['x-extensible-enum'] ?? []) as readonly string[];
}

function schemaOf(document: JsonObject, holder: JsonObject, type: string): JsonValue | undefined {
  return objectAt(document, objectAt(document, holder['content'])[type])['schema'];
}
