import { utf8Bytes } from './json-size.ts';
import { parseJsonString } from './json-text.ts';
import type { JsonValue } from './json-value.ts';
import { MAX_RESULT_BYTES } from './limits.ts';

/** Either the result as plain JSON, or why it is not kept. Neither: the handler returned nothing. */
export interface StorableResult {
  readonly result?: JsonValue;
  readonly resultProblem?: string;
}

/**
 * What of a handler's return value can be stored. The work is done and must not run again because its *answer*
 * has a fault, so a value that cannot be kept becomes a stated problem, never an error.
 *
 * @param returned anything; read once through `JSON.stringify`, so getters, proxies and `toJSON` are resolved here
 * @example toStorableResult({ total: 3 }) // { result: { total: 3 } }
 * @example toStorableResult(10n) // { resultProblem: 'The result is not JSON: …' }
 */
export function toStorableResult(returned: unknown): StorableResult {
  if (returned === undefined) return {};
  const text = stringify(returned);
  if (text === undefined) {
    return {
      resultProblem:
        'The result is not JSON: it is circular, too deep, or holds a BigInt, a function or a symbol, or its toJSON failed.',
    };
  }
  const bytes = utf8Bytes(text);
  if (bytes > MAX_RESULT_BYTES) {
    return {
      resultProblem: `The result is ${bytes} bytes of JSON; at most ${MAX_RESULT_BYTES} are kept.`,
    };
  }
  const parsed = parseJsonString(text);
  if (parsed.ok) return { result: parsed.value };
  const [first] = parsed.problems;
  return {
    resultProblem: `The result cannot be stored: ${first?.path ?? '$'} ${first?.message ?? ''}`,
  };
}

function stringify(value: unknown): string | undefined {
  try {
    // Typed as string, and still undefined for functions and symbols.
    const text: string | undefined = JSON.stringify(value);
    return text;
  } catch {
    return undefined;
  }
}
