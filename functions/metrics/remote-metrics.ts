import { LeaseholdError } from '../../shared/errors.ts';
import type { ErrorCode } from '../../shared/errors.ts';
import type { MetricsSource } from '../../shared/metrics/kept-metrics.ts';
import type { Metrics } from '../../shared/queue/metrics.ts';
import { knownError } from '../middleware/problem.ts';

/** What a durable object answers when it is asked for measures: errors lose their kind on the way, so they go as values. */
export type MetricsAnswer =
  | { readonly ok: true; readonly metrics: Metrics }
  | {
      readonly ok: false;
      readonly code: ErrorCode;
      readonly message: string;
      readonly retryAfterSeconds?: number;
    };

/** The answer of the object. */
export async function answerMetrics(read: () => Promise<Metrics>): Promise<MetricsAnswer> {
  try {
    return { ok: true, metrics: await read() };
  } catch (thrown) {
    const { code, message, retryAfterSeconds } = knownError(thrown);
    return {
      ok: false,
      code,
      message,
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    };
  }
}

/** Measures that a durable object keeps for all isolates. It hears of changes by itself. */
export function createRemoteMetrics(
  ask: (options: { readonly fresh: boolean }) => Promise<MetricsAnswer>,
): MetricsSource {
  return {
    read: async (options) => {
      const answer = await ask(options);
      if (answer.ok) return answer.metrics;
      const { code, message, retryAfterSeconds } = answer;
      throw new LeaseholdError(
        code,
        message,
        retryAfterSeconds === undefined ? {} : { retryAfterSeconds },
      );
    },
    changed: async () => undefined,
  };
}
