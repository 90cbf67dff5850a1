import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { PROBLEMS } from '../../../functions/middleware/problem.ts';
import type { JsonObject } from '../../../shared/json-value.ts';
import { openapiDocument } from '../../../shared/openapi/document.ts';

/** The contract as the code has it. */
export const GENERATED: JsonObject = openapiDocument(PROBLEMS);

/** The copy that people and tools read from the repository. */
export const COMMITTED_FILE = fileURLToPath(new URL('../../../docs/openapi.json', import.meta.url));

/** What clients were promised last: changed by a release alone. */
export const RELEASED_FILE = fileURLToPath(
  new URL('../../../docs/openapi.released.json', import.meta.url),
);

export function fileText(document: JsonObject): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

export function readDocument(file: string): JsonObject {
  return JSON.parse(readFileSync(file, 'utf8')) as JsonObject;
}
