import { MAX_QUEUE_NAME_CHARS, MAX_TYPE_NAME_CHARS } from './limits.ts';

/**
 * The rule for names of queues and job types. Names are data, never parts of SQL identifiers or file names, so
 * quotes, semicolons, slashes and emoji are all allowed; what is refused is control characters, white space at the
 * ends, and what URLs fold away.
 */
export function nameRule(maxChars: number): string {
  return (
    `must be 1 to ${maxChars} characters, with no control characters, no white space at either end, ` +
    'and not "." or ".."'
  );
}

export const QUEUE_NAME_RULE = nameRule(MAX_QUEUE_NAME_CHARS);
export const TYPE_NAME_RULE = nameRule(MAX_TYPE_NAME_CHARS);

/**
 * Characters are Unicode code points, as Postgres counts them: an emoji is one.
 *
 * @example isValidName('image-worker', 128) // true
 * @example isValidName('..', 128) // false
 */
export function isValidName(name: string, maxChars: number): boolean {
  if (name === '' || name === '.' || name === '..') return false;
  if (name.length > maxChars && countCodePoints(name, maxChars) > maxChars) return false;
  if (/\p{Cc}/u.test(name) || !name.isWellFormed()) return false;
  return name === name.trim();
}

/** Stops counting soon after the limit, so a name of a million characters costs no more than a long one. */
function countCodePoints(text: string, limit: number): number {
  let count = 0;
  for (const _ of text) {
    count += 1;
    if (count > limit) break;
  }
  return count;
}
