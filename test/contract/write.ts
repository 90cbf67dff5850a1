/**
 * `npm run openapi` writes docs/openapi.json from the code. `npm run openapi -- --release` writes docs/openapi.released.json too,
 * and with it promises the contract as it is now; it refuses to break the promise before, unless the first number of
 * `CONTRACT_VERSION` has grown.
 */
import { existsSync, writeFileSync } from 'node:fs';

import type { JsonObject } from '../../shared/json-value.ts';
import { breakingChanges } from '../../shared/openapi/breaking-changes.ts';
import {
  COMMITTED_FILE,
  GENERATED,
  RELEASED_FILE,
  fileText,
  readDocument,
} from './support/documents.ts';

const breaks = existsSync(RELEASED_FILE) ? brokenPromises(readDocument(RELEASED_FILE)) : [];
writeFileSync(COMMITTED_FILE, fileText(GENERATED));
for (const change of breaks) process.stderr.write(`breaks the released contract: ${change}\n`);
if (process.argv.includes('--release')) {
  if (breaks.length > 0) process.exitCode = 1;
  else writeFileSync(RELEASED_FILE, fileText(GENERATED));
}

function brokenPromises(released: JsonObject): string[] {
  return major(released) === major(GENERATED) ? breakingChanges(released, GENERATED) : [];
}

function major(document: JsonObject): string {
  const { version } = document['info'] as { readonly version: string };
  return version.split('.')[0] ?? '';
}
