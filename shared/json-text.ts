import type { FieldProblem } from './errors.ts';
import { exceedsDepth } from './json-depth.ts';
import { findJsonFaults } from './json-faults.ts';
import type { JsonValue } from './json-value.ts';
import { MAX_JSON_DEPTH } from './limits.ts';

export type JsonTextOutcome =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

/**
 * Reads the bytes of a request body as JSON that can be stored exactly as it was sent, or says what is wrong.
 * Pure, never throws, never recurses with the depth of its input.
 *
 * Refused: an empty body, anything but UTF-8, a byte order mark, bad grammar, nesting beyond `MAX_JSON_DEPTH`,
 * duplicate keys, U+0000, lone surrogates, numbers that a double would change. Each fault inside the document is
 * named by its path; `$` is the document. A key named `__proto__` is data and stays an own property.
 *
 * @param bytes the body, already bounded in size by the caller
 * @example parseJsonBytes(new TextEncoder().encode('{"a":1}')) // { ok: true, value: { a: 1 } }
 */
export function parseJsonBytes(bytes: Uint8Array): JsonTextOutcome {
  if (bytes.length === 0) return refuse('The body is empty; it must be a JSON document.');
  if (looksLikeUtf16(bytes)) return refuse('The body is UTF-16 or UTF-32; it must be UTF-8.');
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    return refuse('The body starts with a byte order mark; it must be plain UTF-8.');
  }
  const text = decodeUtf8(bytes);
  if (text === undefined) return refuse('The body is not valid UTF-8.');
  return parseJsonString(text);
}

/**
 * The same for text that is already decoded.
 *
 * @param text JSON text of bounded length
 */
export function parseJsonString(text: string): JsonTextOutcome {
  if (exceedsDepth(text, MAX_JSON_DEPTH)) {
    return refuse(`The document is nested deeper than ${MAX_JSON_DEPTH} levels.`);
  }
  const parsed = parseNatively(text);
  if (!parsed.ok) return parsed;
  const problems = findJsonFaults(text);
  return problems.length === 0 ? parsed : { ok: false, problems };
}

/** JSON starts with two ASCII characters, so a zero among the first two bytes means a wider encoding. */
function looksLikeUtf16(bytes: Uint8Array): boolean {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return true;
  if (first === 0xfe && second === 0xff) return true;
  return first === 0 || (second === 0 && bytes.length > 1);
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function parseNatively(text: string): JsonTextOutcome {
  try {
    const value = JSON.parse(text) as JsonValue;
    return { ok: true, value };
  } catch (error) {
    return refuse(`The body is not valid JSON${positionOf(error)}.`);
  }
}

/** The engine's message quotes the document; only the position is taken from it. */
function positionOf(error: unknown): string {
  const position = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined;
  return position === undefined ? '' : ` (at character ${position})`;
}

function refuse(message: string): JsonTextOutcome {
  return { ok: false, problems: [{ path: '$', message }] };
}
