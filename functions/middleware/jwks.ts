import type { JSONWebKeySet } from 'jose';
import { z } from 'zod';

import { waitAtMost } from '../../shared/bounded-wait.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import { parseJsonBytes } from '../../shared/json-text.ts';
import {
  JWKS_COOLDOWN_MS,
  JWKS_MAX_AGE_MS,
  JWKS_MAX_STALE_MS,
  JWKS_TIMEOUT_MS,
  MAX_JWKS_BYTES,
  MAX_JWKS_KEYS,
} from '../../shared/limits.ts';
import { parseWith } from '../../shared/parse-with.ts';
import type { Clock, Log, Timer } from '../../shared/ports.ts';
import { readAtMost } from '../bounded-body.ts';

const RETRY_AFTER_SECONDS = 5;
/** Of what a key has, only what says that it is one; the library checks the rest when it uses it. */
const KEY_SET = z.object({
  keys: z.array(z.looseObject({ kty: z.string() })).max(MAX_JWKS_KEYS),
});

/**
 * Public keys of the sign-in provider as this isolate last saw them. Only the answer is kept, never the pending
 * request: a promise that one request started must not be awaited by another (Workers bind I/O to a request).
 */
export interface JwksCache {
  keys: JSONWebKeySet | undefined;
  /** Local milliseconds of the last answer, and of the last try. */
  fetchedAtMs: number;
  triedAtMs: number;
}

export function createJwksCache(): JwksCache {
  return { keys: undefined, fetchedAtMs: 0, triedAtMs: 0 };
}

export interface JwksDeps {
  readonly jwks: JwksCache;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly log: Log;
}

/**
 * The keys to check a token with: those at hand while they are fresh, else fetched anew; while the provider is away,
 * the old ones for an hour.
 *
 * @param missed a token named a key that is not among those at hand: ask again, but not more often than the cooldown,
 *   or strangers with made-up key ids would have us call the provider all day
 * @throws {LeaseholdError} `sign_in_unavailable`
 */
export async function publicKeys(
  url: URL,
  { jwks, clock, timer, log }: JwksDeps,
  missed = false,
): Promise<JSONWebKeySet> {
  const now = clock.now();
  const age = now - jwks.fetchedAtMs;
  const { keys } = jwks;
  if (keys !== undefined) {
    const due = age >= JWKS_MAX_AGE_MS || missed;
    if (!due || now - jwks.triedAtMs < JWKS_COOLDOWN_MS) return keys;
  }
  jwks.triedAtMs = now;
  const fetched = await waitAtMost(timer, JWKS_TIMEOUT_MS, (signal) => fetchKeys(url, signal));
  if (fetched.kind === 'value' && fetched.value !== undefined) {
    jwks.keys = fetched.value;
    jwks.fetchedAtMs = now;
    return fetched.value;
  }
  log.warn('sign_in_keys_failed', { reason: fetched.kind === 'value' ? 'answer' : fetched.kind });
  if (keys !== undefined && age < JWKS_MAX_STALE_MS) return keys;
  throw new LeaseholdError(
    'sign_in_unavailable',
    'The public keys of the sign-in provider could not be read.',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}

/** Redirects are not followed: whoever answers for this URL decides who may sign in. */
async function fetchKeys(url: URL, signal: AbortSignal): Promise<JSONWebKeySet | undefined> {
  const response = await fetch(url, {
    headers: { accept: 'application/jwk-set+json, application/json' },
    redirect: 'manual',
    signal,
  });
  const body: ReadableStream<Uint8Array> | null = response.body;
  if (response.status !== 200) {
    await body?.cancel();
    return undefined;
  }
  const bytes = await readAtMost(body, MAX_JWKS_BYTES);
  const json = bytes === undefined ? undefined : parseJsonBytes(bytes);
  const parsed = json?.ok === true ? parseWith(KEY_SET, json.value) : undefined;
  return parsed?.ok === true ? parsed.value : undefined;
}
