import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';

import { isJsonObject } from '../../../shared/json-value.ts';
import type { JsonObject, JsonValue } from '../../../shared/json-value.ts';
import { objectAt } from '../../../shared/openapi/look-up.ts';

const DOCUMENT_ID = 'https://leasehold.test/openapi.json';

export interface SeenAnswer {
  readonly method: string;
  /** With query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** Compares real answers with what a document promises; `ajv` judges, none of our own code. */
export interface AnswerChecker {
  /** Faults of one answer, fields that the document does not know among them. */
  faults(answer: SeenAnswer): readonly string[];
  /** Operation and status of the answers that were checked, `getJob 200`. */
  readonly seen: ReadonlySet<string>;
}

export function createAnswerChecker(document: JsonObject): AnswerChecker {
  const ajv = createAjv();
  const closed = closeObjects(document);
  ajv.addSchema({ ...closed, $id: DOCUMENT_ID });
  const compiled = new Map<string, ValidateFunction>();
  const seen = new Set<string>();
  return {
    seen,
    faults: ({ method, path, status, headers, body }) => {
      const found = operationAt(document, method, path);
      if (found === undefined) return [`${method} ${path} is not in the document`];
      const { operation, pointer } = found;
      const name = `${String(operation['operationId'] as string)} ${status}`;
      seen.add(name);
      const answerRef = objectAt(document, operation['responses'])[String(status)];
      if (answerRef === undefined) return [`${name} is not in the document`];
      const answer = objectAt(document, answerRef);
      const missing = Object.entries((answer['headers'] ?? {}) as JsonObject)
        .filter(([name, one]) => objectAt(document, one)['required'] === true && !headers.has(name))
        .map(([name]) => name);
      const faults = missing.map((header) => `${name} has no header ${header}`);
      const content = answer['content'];
      if (content === undefined) return faults;
      const type = (headers.get('content-type') ?? '').split(';')[0] ?? '';
      const media = objectAt(document, objectAt(document, content)[type]);
      if (objectAt(document, content)[type] === undefined) return [...faults, `${name} is ${type}`];
      if (media['schema'] === undefined) return faults;
      const base = refOf(answerRef) ?? `${pointer}/responses/${status}`;
      const schema = `${DOCUMENT_ID}${base}/content/${escapePointer(type)}/schema`;
      const validate = compiled.get(schema) ?? ajv.compile({ $ref: schema });
      compiled.set(schema, validate);
      if (validate(body)) return faults;
      return [...faults, `${name}: ${ajv.errorsText(validate.errors)}`];
    },
  };
}

/** Tells of a value and the pointer of a schema what does not fit; undefined when all does. */
export type SchemaJudge = (pointer: string, value: unknown) => string | undefined;

export function createSchemaJudge(document: JsonObject): SchemaJudge {
  const ajv = createAjv();
  ajv.addSchema({ ...document, $id: DOCUMENT_ID });
  const compiled = new Map<string, ValidateFunction>();
  return (pointer, value) => {
    const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `${DOCUMENT_ID}${pointer}` });
    compiled.set(pointer, validate);
    return validate(value) ? undefined : ajv.errorsText(validate.errors);
  };
}

function createAjv(): Ajv2020 {
  // The document is OpenAPI with words of its own; its shape is checked elsewhere.
  const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: true });
  addFormats(ajv);
  return ajv;
}

function operationAt(
  document: JsonObject,
  method: string,
  path: string,
): { readonly operation: JsonObject; readonly pointer: string } | undefined {
  const [pathname = ''] = path.split('?');
  const paths = Object.entries(objectAt(document, document['paths']));
  const matching = paths.filter(([template, ofPath]) => {
    const pattern = new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
    return pattern.test(pathname) && objectAt(document, ofPath)[method.toLowerCase()] !== undefined;
  });
  // A fixed path wins over a pattern that fits as well.
  const [best] = matching.toSorted(
    ([one], [other]) => one.split('{').length - other.split('{').length,
  );
  if (best === undefined) return undefined;
  const [template, ofPath] = best;
  return {
    operation: objectAt(document, objectAt(document, ofPath)[method.toLowerCase()]),
    pointer: `#/paths/${escapePointer(template)}/${method.toLowerCase()}`,
  };
}

/** Answers may gain fields and words, for their readers; in a test, one that the document does not know is a fault. */
function closeObjects(value: JsonObject): JsonObject {
  const closed: Record<string, JsonValue> = {};
  for (const [key, inner] of Object.entries(value)) closed[key] = close(inner);
  const words = value['x-extensible-enum'];
  if (words !== undefined) closed['enum'] = words;
  const describesObject = value['type'] === 'object' && value['properties'] !== undefined;
  return describesObject && value['additionalProperties'] === undefined
    ? { ...closed, additionalProperties: false }
    : closed;
}

function close(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(close);
  return isJsonObject(value) ? closeObjects(value) : value;
}

function refOf(value: JsonValue): string | undefined {
  const ref = isJsonObject(value) ? value['$ref'] : undefined;
  return typeof ref === 'string' ? ref : undefined;
}

function escapePointer(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
}
