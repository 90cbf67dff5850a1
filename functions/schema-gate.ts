import { LeaseholdError } from '../shared/errors.ts';
import type { Sql, SqlOptions } from '../shared/ports.ts';
import { SCHEMA_VERSION, readSchemaVersion } from '../shared/queue/schema-version.ts';
import type { SchemaVersion } from '../shared/queue/schema-version.ts';

const RETRY_AFTER_SECONDS = 30;

/**
 * Whether this isolate has seen a schema that its code can work with. Only the answer is kept, never the pending
 * question: a promise shared between requests dies with the request that made it (Workers bind I/O to a request).
 */
export interface SchemaGate {
  verified: boolean;
}

/**
 * Lets the first request of an isolate ask the database what it is, and the others pass.
 *
 * @throws {LeaseholdError} `schema_mismatch` when the schema is missing, too old for the code or too new for it
 */
export async function ensureSchema(sql: Sql, gate: SchemaGate): Promise<void> {
  if (gate.verified) return;
  await checkSchema(sql);
  gate.verified = true;
}

/** Asks anew, whatever is remembered. */
export async function checkSchema(sql: Sql, options?: SqlOptions): Promise<SchemaVersion> {
  const found = await readSchemaVersion(sql, options);
  if (found.oldestCode > SCHEMA_VERSION) {
    throw mismatch(
      `This code knows schema version ${SCHEMA_VERSION}, and the database needs at least ` +
        `${found.oldestCode}: deploy the newer code.`,
    );
  }
  if (found.version < SCHEMA_VERSION) {
    throw mismatch(
      `The database has schema version ${found.version}, and this code needs ${SCHEMA_VERSION}: ` +
        'run npm run migrate.',
    );
  }
  return found;
}

function mismatch(message: string): LeaseholdError {
  return new LeaseholdError('schema_mismatch', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}
