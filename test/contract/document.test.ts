import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';

import { isJsonObject } from '../../shared/json-value.ts';
import type { JsonObject, JsonValue } from '../../shared/json-value.ts';
import { breakingChanges } from '../../shared/openapi/breaking-changes.ts';
import { lookUp, objectAt } from '../../shared/openapi/look-up.ts';
import { OPERATIONS } from '../../shared/openapi/operations.ts';
import { createSchemaJudge } from './support/answer-checker.ts';
import {
  COMMITTED_FILE,
  GENERATED,
  RELEASED_FILE,
  fileText,
  readDocument,
} from './support/documents.ts';

describe('S2.9 the contract', () => {
  test('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(GENERATED));
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
  });

  test('is the committed copy', () => {
    const isSame = readFileSync(COMMITTED_FILE, 'utf8') === fileText(GENERATED);
    expect(isSame, 'docs/openapi.json is not what the code says; run: npm run openapi').toBe(true);
  });

  test('breaks nothing that was released', () => {
    const broken = breakingChanges(readDocument(RELEASED_FILE), GENERATED);
    expect(
      broken,
      'Clients rely on docs/openapi.released.json. Keep what they use, or raise the first number of CONTRACT_VERSION and run: npm run openapi -- --release',
    ).toEqual([]);
  });

  test('refers to nothing that is not there', () => {
    const refs = [...strings(GENERATED)].filter((text) => text.startsWith('#/'));
    expect(refs.length).toBeGreaterThan(100);
    expect(refs.filter((ref) => lookUp(GENERATED, ref) === undefined)).toEqual([]);
  });

  test('names each operation once', () => {
    expect(new Set(OPERATIONS.map(({ id }) => id)).size).toBe(OPERATIONS.length);
  });

  test('uses every message that it describes', () => {
    const used = new Set([...strings(GENERATED)].filter((text) => text.startsWith('#/')));
    const schemas = objectAt(GENERATED, objectAt(GENERATED, GENERATED['components'])['schemas']);
    const unused = Object.keys(schemas).filter((name) => !used.has(`#/components/schemas/${name}`));
    expect(unused).toEqual([]);
  });
});

describe('S2.9 the examples fit their schemas', () => {
  const judge = createSchemaJudge(GENERATED);
  const examples = OPERATIONS.flatMap(({ id, body, success }) => [
    ...(body === undefined
      ? []
      : [{ at: `${id} request`, schema: body.schema, example: body.example }]),
    ...Object.entries(success).flatMap(([status, { schema, example }]) =>
      schema === undefined || example === undefined
        ? []
        : [{ at: `${id} ${status}`, schema, example }],
    ),
  ]);
  test.each(examples)(
    '$at',
    ({ schema, example }: { schema: string; example: JsonObject | JsonValue }) => {
      expect(judge(`#/components/schemas/${schema}`, example)).toBeUndefined();
    },
  );
});

function* strings(value: JsonValue): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (Array.isArray(value))
    for (const item of value as readonly JsonValue[]) yield* strings(item);
  else if (isJsonObject(value)) for (const item of Object.values(value)) yield* strings(item);
}
