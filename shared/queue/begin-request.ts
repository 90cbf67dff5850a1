import type { Sql, SqlOptions } from '../ports.ts';

export interface BeginRequestInput {
  /** Keys of different actors do not meet. */
  readonly actor: string;
  /** The Idempotency-Key, 1 to 255 characters. */
  readonly key: string;
  /** Of method, path and body. */
  readonly fingerprint: string;
  /** A fresh UUID of this call. */
  readonly seed: string;
}

export type BeginRequestOutcome =
  /** Carry it out; ids that it makes are derived from the seed, so that a request cut off and repeated makes the same rows. */
  | { readonly outcome: 'new'; readonly seed: string; readonly createdAt: Date }
  | {
      readonly outcome: 'replay';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    }
  /** The key was used for another request. */
  | { readonly outcome: 'mismatch' }
  /** The first call still runs. */
  | { readonly outcome: 'in_flight' };

/**
 * Takes an Idempotency-Key before a request is carried out. Safe to repeat with the same seed.
 *
 * @throws {LeaseholdError} `invalid_request` naming the field.
 * @example const begun = await beginRequest(sql, { actor, key, fingerprint, seed: ids.uuidv7() });
 */
export async function beginRequest(
  sql: Sql,
  input: BeginRequestInput,
  options?: SqlOptions,
): Promise<BeginRequestOutcome> {
  const [row] = await sql.query<RequestRow>(
    'select * from leasehold.begin_request($1::text, $2::text, $3::text, $4::uuid)',
    [input.actor, input.key, input.fingerprint, input.seed],
    options,
  );
  switch (row?.outcome) {
    case 'new':
      return { outcome: 'new', seed: row.seed, createdAt: row.created_at };
    case 'replay':
      return { outcome: 'replay', status: row.status, headers: row.headers, body: row.body };
    case 'mismatch':
      return { outcome: 'mismatch' };
    case 'in_flight':
    case undefined:
      return { outcome: 'in_flight' };
  }
}

type RequestRow =
  | { outcome: 'new'; seed: string; created_at: Date }
  | { outcome: 'replay'; status: number; headers: Record<string, string>; body: string }
  | { outcome: 'mismatch' | 'in_flight' };
