import { LeaseholdError } from '../../shared/errors.ts';
import type { AppDeps } from '../deps.ts';
import type { RateLimitedCall, RateVerdict } from '../rate-limit.ts';

/**
 * Asks the deployment's rate limit, if it has one.
 *
 * @throws {LeaseholdError} `rate_limited` with the seconds after which to come back
 */
export async function checkRate(
  deps: Pick<AppDeps, 'rateLimit' | 'log'>,
  call: RateLimitedCall,
): Promise<void> {
  if (deps.rateLimit === undefined) return;
  const verdict = await deps.rateLimit.check(call).catch((): RateVerdict => {
    deps.log.warn('rate_limit_failed', { route: call.route });
    return { outcome: 'allow' };
  });
  if (verdict.outcome === 'allow') return;
  const seconds = Math.max(1, Math.ceil(verdict.retryAfterSeconds));
  throw new LeaseholdError('rate_limited', `Too many requests; come back in ${seconds} s.`, {
    retryAfterSeconds: seconds,
  });
}
