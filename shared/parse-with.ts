import type { z } from 'zod';

import type { FieldProblem } from './errors.ts';
import { formatJsonPath } from './json-path.ts';
import type { JsonPath } from './json-path.ts';
import { MAX_FIELD_PROBLEMS } from './limits.ts';

export type ParseOutcome<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

/**
 * Checks a value against a schema and gives failures in this project's one shape.
 *
 * @param schema synchronous
 * @example parseWith(z.strictObject({ a: z.int() }), { b: 1 })
 * // { ok: false, problems: [{ path: 'a', message: 'is required' }, { path: 'b', message: 'is not a known field' }] }
 */
export function parseWith<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): ParseOutcome<z.output<Schema>> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, value: parsed.data };
  return { ok: false, problems: problemsOf(parsed.error) };
}

/**
 * The issues of a zod error as field problems: unknown keys one by one, repeats dropped, at most
 * `MAX_FIELD_PROBLEMS`. Values never appear, only places and rules.
 */
export function problemsOf(error: z.ZodError): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const seen = new Set<string>();
  const add = (path: JsonPath, message: string): void => {
    const problem = { path: formatJsonPath(path), message };
    const identity = JSON.stringify(problem);
    if (seen.has(identity) || problems.length >= MAX_FIELD_PROBLEMS) return;
    seen.add(identity);
    problems.push(problem);
  };
  for (const issue of error.issues) {
    const path = issue.path.map((part) => (typeof part === 'symbol' ? part.toString() : part));
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) add([...path, key], 'is not a known field');
    } else {
      add(path, issue.message);
    }
  }
  return problems;
}

/**
 * Zod parameters that say "is required" for a missing field and otherwise state the rule.
 *
 * @param rule what the field must be, in words that follow its name: `must be an integer from 1 to 100`
 */
export function stating(rule: string): { error: (issue: { input?: unknown }) => string } {
  return { error: (issue) => (issue.input === undefined ? `is required; it ${rule}` : rule) };
}
