import { ERROR_CODES } from '../errors.ts';
import type { ErrorCode } from '../errors.ts';
import type { JsonObject, JsonValue } from '../json-value.ts';

export type ProblemTable = Readonly<
  Record<ErrorCode, { readonly status: number; readonly title: string; readonly remedy: string }>
>;

/** The error answers of a document: each set of codes under one status is written once. */
export interface ProblemAnswers {
  /** Responses by status for an operation with these codes. */
  refs(codes: ReadonlySet<ErrorCode>): JsonObject;
  /** All that were referred to so far. */
  components(): JsonObject;
}

export function problemAnswers(problems: ProblemTable): ProblemAnswers {
  const components: Record<string, JsonObject> = {};
  return {
    refs: (codes) => {
      const ordered = ERROR_CODES.filter((code) => codes.has(code));
      const byStatus = Map.groupBy(ordered, (code) => problems[code].status);
      const refs: Record<string, JsonValue> = {};
      for (const [status, ofStatus] of byStatus) {
        const name = ofStatus.join('-or-');
        components[name] ??= answer(problems, status, ofStatus);
        refs[status] = { $ref: `#/components/responses/${name}` };
      }
      return refs;
    },
    components: () => Object.fromEntries(Object.entries(components).toSorted(byName)),
  };
}

function answer(problems: ProblemTable, status: number, codes: readonly ErrorCode[]): JsonObject {
  const comesBack = status === 429 || status === 503 || codes.includes('idempotency_key_in_flight');
  return {
    description: codes
      .map((code) => `\`${code}\`: ${problems[code].title}. ${problems[code].remedy}`)
      .join('\n\n'),
    headers: {
      'X-Request-Id': { $ref: '#/components/headers/RequestId' },
      ...(comesBack ? { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } } : {}),
    },
    content: {
      'application/problem+json': {
        schema: {
          $ref: '#/components/schemas/Problem',
          properties: { code: { 'x-extensible-enum': codes }, status: { const: status } },
        },
      },
    },
  };
}

function byName([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1;
}
