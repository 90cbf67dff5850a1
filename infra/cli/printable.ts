/**
 * Control characters, and those that turn the direction of text: written to a terminal, they could move the cursor, rewrite what
 * stands there or hide it. Names, notes, errors and payloads are other people's text.
 */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
/** The same without what `JSON.stringify` escapes, and without the line breaks that it makes. */
const UNPRINTABLE_IN_JSON =
  /[\u007f-\u009f\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Text of others for one line of a terminal: whatever is no plain character is shown by its code.
 *
 * @example printable('a\u001b[2Jb') // 'a\\u001b[2Jb'
 */
export function printable(text: string): string {
  return text.toWellFormed().replaceAll(UNPRINTABLE, (found) => SHORT[found] ?? escaped(found));
}

/**
 * A value as JSON that a terminal can bear: still the same JSON, since the escapes are its own.
 *
 * @param indent 0 for one line
 */
export function printableJson(value: unknown, indent: number): string {
  const text = JSON.stringify(value, null, indent) ?? 'null';
  return text.replaceAll(UNPRINTABLE_IN_JSON, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
