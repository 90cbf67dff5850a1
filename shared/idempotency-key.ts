import { MAX_IDEMPOTENCY_KEY_CHARS } from './limits.ts';

export type IdempotencyKeyOutcome =
  { readonly ok: true; readonly key: string } | { readonly ok: false; readonly message: string };

export const IDEMPOTENCY_KEY_RULE =
  `must be 1 to ${MAX_IDEMPOTENCY_KEY_CHARS} printable ASCII characters, ` +
  'bare (order-17) or as a quoted string ("order-17")';

/**
 * Reads an `Idempotency-Key` header: as the IETF draft writes it, a quoted string of RFC 8941, or bare, as most
 * clients send it. Both forms of one key are the same key.
 *
 * @example parseIdempotencyKey('"order-17"') // { ok: true, key: 'order-17' }
 */
export function parseIdempotencyKey(header: string): IdempotencyKeyOutcome {
  const text = header.trim();
  const key = text.startsWith('"') ? unquoted(text) : bare(text);
  return key === undefined || key === '' || key.length > MAX_IDEMPOTENCY_KEY_CHARS
    ? { ok: false, message: IDEMPOTENCY_KEY_RULE }
    : { ok: true, key };
}

function bare(text: string): string | undefined {
  return /^[\x20-\x7e]*$/.test(text) ? text : undefined;
}

/** RFC 8941, 3.3.3: only the quote and the backslash are escaped. Parameters after it are not a key. */
function unquoted(text: string): string | undefined {
  const inner = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/.exec(text)?.[1];
  return inner?.replaceAll(/\\(["\\])/g, '$1');
}
