import type { z } from 'zod';

import type { ErrorCode } from '../errors.ts';
import type { JsonObject, JsonValue } from '../json-value.ts';
import type { Scope } from '../scopes.ts';
import type { ComponentName } from './components.ts';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** What a success answers with. */
export interface Success {
  readonly description: string;
  /** None: no body, or one that is not JSON. */
  readonly schema?: ComponentName;
  /** Of a body that is not JSON. */
  readonly mediaType?: string;
  readonly example?: JsonValue;
  /** Whether it names the new resource in a `Location` header. */
  readonly location?: true;
}

/** One route, as the document shows it. Errors that follow from the rest are added by `errorsOf`. */
export interface Operation {
  /** Name for generated clients, camelCase. */
  readonly id: string;
  readonly method: Method;
  /** OpenAPI path, `/v1/jobs/{id}`. */
  readonly path: string;
  readonly tag: string;
  /** A few words. */
  readonly summary: string;
  /** Sentences: what a caller has to know. */
  readonly description: string;
  readonly access: 'public' | Scope | { readonly pokeOr: Scope };
  /** Whether it asks the database. */
  readonly database: boolean;
  /** The schema of each `{part}` of the path. */
  readonly params?: Readonly<Record<string, z.ZodType>>;
  readonly query?: z.ZodType;
  readonly body?: {
    readonly schema: ComponentName;
    /** Whether an empty body means the empty object. */
    readonly optional?: true;
    readonly example: JsonObject;
  };
  /** Default: heeded on every POST. */
  readonly idempotencyKey?: 'ignored';
  readonly success: Readonly<Record<number, Success>>;
  /** Codes of its own. */
  readonly errors?: readonly ErrorCode[];
}

/** Whether repeats with one `Idempotency-Key` are one request. */
export function heedsIdempotencyKey({ method, idempotencyKey }: Operation): boolean {
  return method === 'post' && idempotencyKey !== 'ignored';
}

/** Every code that the route can answer with: its own, and those of what stands before it. */
export function errorsOf(operation: Operation): ReadonlySet<ErrorCode> {
  const codes: ErrorCode[] = ['internal_error', 'config_invalid', ...(operation.errors ?? [])];
  if (operation.access !== 'public') {
    codes.push('unauthenticated', 'forbidden', 'rate_limited', 'sign_in_unavailable');
  }
  if (typeof operation.access === 'object') codes.push('bad_signature', 'body_too_large');
  if (operation.database) codes.push('database_unavailable', 'database_error', 'schema_mismatch');
  if (operation.params !== undefined || operation.query !== undefined)
    codes.push('invalid_request');
  if (operation.body !== undefined) {
    codes.push('invalid_request', 'invalid_json', 'body_too_large', 'unsupported_media_type');
  }
  if (heedsIdempotencyKey(operation)) {
    // The key is made of the body, so a body that is too large is refused even where none is read.
    codes.push('invalid_request', 'body_too_large');
    codes.push('idempotency_key_in_flight', 'idempotency_key_reused');
  }
  return new Set(codes);
}
