import { IDEMPOTENCY_KEY_RULE } from '../idempotency-key.ts';
import type { JsonObject, JsonValue } from '../json-value.ts';
import { MAX_IDEMPOTENCY_KEY_CHARS } from '../limits.ts';
import { jsonSchemas } from './json-schemas.ts';
import type { JsonSchemas } from './json-schemas.ts';
import { errorsOf, heedsIdempotencyKey } from './operation.ts';
import type { Operation, Success } from './operation.ts';
import { OPERATIONS } from './operations.ts';
import { problemAnswers } from './problem-answers.ts';
import type { ProblemTable } from './problem-answers.ts';

/** Of the contract, not of the code: the first number grows when something breaks. */
export const CONTRACT_VERSION = '1.0.0';

const ABOUT = `Leasehold is a Postgres job queue for functions. Ids and 64-bit numbers are strings, instants are ISO 8601 in UTC. \
Unknown fields of a request are refused; answers may gain fields, and words marked \`x-extensible-enum\` may gain words.

Errors are problem documents (RFC 9457) with a stable \`code\`. Each answer carries \`X-Request-Id\`. Send an \`Idempotency-Key\` \
with every POST, and a repeat after a lost answer is no second request.`;

/**
 * The contract of the API as OpenAPI 3.1, made of the schemas that routes parse with.
 *
 * @param problems HTTP status and words of every error code
 * @example const document = openapiDocument(PROBLEMS);
 */
export function openapiDocument(
  problems: ProblemTable,
  operations: readonly Operation[] = OPERATIONS,
): JsonObject {
  const schemas = jsonSchemas(operations);
  const answers = problemAnswers(problems);
  const paths: Record<string, Record<string, JsonValue>> = {};
  for (const operation of operations) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method]: {
        operationId: operation.id,
        tags: [operation.tag],
        summary: operation.summary,
        description: operation.description,
        security: security(operation.access),
        ...withParameters(operation, schemas),
        ...withBody(operation),
        responses: {
          ...Object.fromEntries(
            Object.entries(operation.success).map(([status, success]) => [
              status,
              successAnswer(success, heedsIdempotencyKey(operation)),
            ]),
          ),
          ...answers.refs(errorsOf(operation)),
        },
      },
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Leasehold',
      version: CONTRACT_VERSION,
      description: ABOUT,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: schemas.components,
      responses: answers.components(),
      parameters: { IdempotencyKey: IDEMPOTENCY_KEY },
      headers: HEADERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

const REQUEST_ID = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } };

const HEADERS: JsonObject = {
  RequestId: {
    description: 'Names the request in the log; your own, if you sent one.',
    required: true,
    schema: { type: 'string' },
  },
  RetryAfter: {
    description: 'Seconds after which the same request may succeed.',
    schema: { type: 'integer', minimum: 0 },
  },
  IdempotencyReplayed: {
    description: 'The answer to an earlier request with the same key; nothing more was done.',
    schema: { type: 'string', const: 'true' },
  },
  Location: { description: 'Where the job is read.', required: true, schema: { type: 'string' } },
};

const IDEMPOTENCY_KEY: JsonObject = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: `Names this request, so that a repeat with the same body gets the same answer and does nothing more. It ${IDEMPOTENCY_KEY_RULE}. Kept for 24 hours.`,
  schema: { type: 'string', minLength: 1, maxLength: 2 * MAX_IDEMPOTENCY_KEY_CHARS + 2 },
  example: 'order-17',
};

const SECURITY_SCHEMES: JsonObject = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'A JWT with `sub`, `exp` and `scope`: `enqueue`, `work`, `operate`, `read`, `human`. Its claim `queues` limits it to certain queues.',
  },
  poke: {
    type: 'apiKey',
    in: 'header',
    name: 'webhook-signature',
    description: 'Standard Webhooks, signed with a key of `POKE_SECRETS`.',
  },
};

function security(access: Operation['access']): JsonValue {
  if (access === 'public') return [];
  if (typeof access === 'string') return [{ bearer: [access] }];
  return [{ poke: [] }, { bearer: [access.pokeOr] }];
}

function withParameters(
  operation: Operation,
  { params, queries }: JsonSchemas,
): { readonly parameters?: JsonValue } {
  const parameters = [
    ...parametersOf(params.get(operation.id), 'path'),
    ...parametersOf(queries.get(operation.id), 'query'),
    ...(heedsIdempotencyKey(operation) ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
  ];
  return parameters.length === 0 ? {} : { parameters };
}

function parametersOf(schema: JsonObject | undefined, place: 'path' | 'query'): JsonValue[] {
  const properties = (schema?.['properties'] ?? {}) as Readonly<Record<string, JsonObject>>;
  const required = (schema?.['required'] ?? []) as readonly string[];
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: rest,
  }));
}

function withBody({ body }: Operation): { readonly requestBody?: JsonValue } {
  if (body === undefined) return {};
  return {
    requestBody: {
      required: body.optional !== true,
      content: {
        'application/json': { schema: schemaRef(body.schema), example: body.example },
      },
    },
  };
}

function successAnswer(
  { description, schema, mediaType, example, location }: Success,
  mayBeReplayed: boolean,
): JsonValue {
  const content =
    schema === undefined
      ? mediaType === undefined
        ? undefined
        : { [mediaType]: {} }
      : {
          'application/json': {
            schema: schemaRef(schema),
            ...(example === undefined ? {} : { example }),
          },
        };
  return {
    description,
    headers: {
      ...REQUEST_ID,
      ...(location === true ? { Location: { $ref: '#/components/headers/Location' } } : {}),
      ...(mayBeReplayed
        ? { 'Idempotency-Replayed': { $ref: '#/components/headers/IdempotencyReplayed' } }
        : {}),
    },
    ...(content === undefined ? {} : { content }),
  };
}

function schemaRef(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}
