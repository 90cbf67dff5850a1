/**
 * Text that Postgres can hold and a reader can bear: no U+0000, no half surrogate pairs, bounded.
 *
 * @param maxChars UTF-16 units kept; a cut is marked with an ellipsis
 * @example safeText('a\u0000b', 10) // 'ab'
 */
export function safeText(text: string, maxChars: number): string {
  // Cut first: the rest of the work must not depend on the length of what was thrown at us.
  const cut = text.length > maxChars ? `${text.slice(0, maxChars - 1)}…` : text;
  return cut.replaceAll('\u0000', '').toWellFormed();
}
