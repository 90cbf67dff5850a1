/**
 * Whether the brackets of a JSON text nest deeper than `maxDepth`, without parsing it and without recursion: a text
 * of 100,000 opening brackets costs a hundred thousand steps of a loop, not a stack overflow or a tree in memory.
 * Brackets inside strings do not count. Text that is not JSON gets some answer; its parser will refuse it.
 *
 * @param maxDepth levels allowed; 1 allows `[]` and `{}` alone
 * @example exceedsDepth('[[1]]', 1) // true
 */
export function exceedsDepth(text: string, maxDepth: number): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (inString) {
      if (char === '\\') at += 1;
      else if (char === '"') inString = false;
    } else if (char === '"') {
      inString = true;
    } else if (char === '[' || char === '{') {
      depth += 1;
      if (depth > maxDepth) return true;
    } else if (char === ']' || char === '}') {
      depth -= 1;
    }
  }
  return false;
}
