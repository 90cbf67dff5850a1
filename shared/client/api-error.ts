import type { ErrorFacts, FieldProblem } from '../errors.ts';
import type { JsonValue } from '../json-value.ts';
import { problemResponse } from '../schemas/problem-response.ts';

export interface ApiErrorDetails {
  /** HTTP status; 0 when no answer came. */
  readonly status: number;
  /**
   * A code of `docs/errors.md`, or one of the client's own: `no_answer` (nothing came, so nobody knows whether it was done),
   * `unexpected_answer` (what came is not of this API).
   */
  readonly code: string;
  readonly problems?: readonly FieldProblem[];
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly facts?: ErrorFacts;
  readonly cause?: unknown;
}

/**
 * What the API refused or could not do, after all tries. Expected outcomes, a lost lease among them, are values and never
 * come as this.
 *
 * @example if (error instanceof LeaseholdApiError && error.code === 'job_id_conflict') …
 */
export class LeaseholdApiError extends Error {
  override readonly name = 'LeaseholdApiError';
  readonly status: number;
  readonly code: string;
  /** Field by field, when the fault lies in the request. */
  readonly problems: readonly FieldProblem[];
  /** Names the request in the log of the service. */
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** What a program needs to go on, such as `actual_count`. */
  readonly facts: ErrorFacts;

  constructor(message: string, details: ApiErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.status = details.status;
    this.code = details.code;
    this.problems = details.problems ?? [];
    this.requestId = details.requestId;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.facts = details.facts ?? {};
  }
}

/** Members of every problem document; what else is there is a fact. */
const KNOWN = ['type', 'title', 'status', 'detail', 'code', 'remedy', 'problems', 'request_id'];

/** An answer that is no success, as an error. Something between client and service may have written it. */
export function apiError(status: number, headers: Headers, body: unknown): LeaseholdApiError {
  const problem = problemResponse.safeParse(body);
  const after = Number(headers.get('retry-after') ?? Number.NaN);
  const details = {
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: Number.isFinite(after) && after >= 0 ? after : undefined,
  };
  if (!problem.success) {
    return new LeaseholdApiError(`The answer ${status} is not of this API.`, {
      ...details,
      code: 'unexpected_answer',
    });
  }
  const { detail, code, problems = [] } = problem.data;
  return new LeaseholdApiError(detail, {
    ...details,
    code,
    problems,
    facts: factsOf(problem.data),
  });
}

function factsOf(problem: Readonly<Record<string, unknown>>): ErrorFacts {
  const facts: Record<string, string | number | boolean | null> = {};
  for (const [name, value] of Object.entries(problem) as [string, JsonValue][]) {
    if (!KNOWN.includes(name) && (value === null || typeof value !== 'object')) {
      facts[name] = value;
    }
  }
  return facts;
}
