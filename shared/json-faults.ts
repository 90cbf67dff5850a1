import { visit } from 'jsonc-parser';

import type { FieldProblem } from './errors.ts';
import { isExactJsonNumber } from './json-number.ts';
import { formatJsonPath } from './json-path.ts';
import type { JsonPath } from './json-path.ts';
import { MAX_FIELD_PROBLEMS } from './limits.ts';

/**
 * What is valid JSON and still cannot be kept as it was written: duplicate keys (all but one vanish), U+0000 and
 * lone surrogates (Postgres text and jsonb cannot hold them), and numbers a double would change.
 *
 * The visitor recurses, so the caller must have bounded the depth, and it forgives bad grammar, so the caller must
 * have parsed the text natively first.
 *
 * @param text valid JSON of bounded depth
 * @returns at most `MAX_FIELD_PROBLEMS` problems, in document order; empty when every value is kept exactly
 * @example findJsonFaults('{"a":1,"a":2}') // [{ path: 'a', message: 'is given twice in the same object' }]
 */
export function findJsonFaults(text: string): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const openObjects: Set<string>[] = [];
  const add = (path: JsonPath, message: string): void => {
    if (problems.length < MAX_FIELD_PROBLEMS)
      problems.push({ path: formatJsonPath(path), message });
  };

  visit(text, {
    onObjectBegin: () => {
      openObjects.push(new Set());
    },
    onObjectEnd: () => {
      openObjects.pop();
    },
    onObjectProperty: (key, _offset, _length, _line, _character, pathTo) => {
      const seen = openObjects.at(-1);
      if (seen?.has(key) === true) add([...pathTo(), key], 'is given twice in the same object');
      seen?.add(key);
      const fault = textFault(key);
      if (fault !== undefined) add([...pathTo(), key], `has a key that ${fault}`);
    },
    onLiteralValue: (value: unknown, offset, length, _line, _character, pathTo) => {
      if (typeof value === 'string') {
        const fault = textFault(value);
        if (fault !== undefined) add(pathTo(), fault);
      } else if (
        typeof value === 'number' &&
        !isExactJsonNumber(text.slice(offset, offset + length))
      ) {
        add(pathTo(), 'is a number that would be changed by reading it; send it as a string');
      }
    },
  });
  return problems;
}

function textFault(text: string): string | undefined {
  if (text.includes('\u0000')) return 'contains the character U+0000, which cannot be stored';
  if (!text.isWellFormed()) return 'contains half of a surrogate pair, which cannot be stored';
  return undefined;
}
