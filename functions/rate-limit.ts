/** What is about to be done, and by whom. */
export interface RateLimitedCall {
  /** Subject of the token. */
  readonly actor: string;
  readonly method: string;
  /** Pattern of the path, such as `/v1/jobs/:id`. */
  readonly route: string;
}

export type RateVerdict =
  { readonly outcome: 'allow' } | { readonly outcome: 'deny'; readonly retryAfterSeconds: number };

/**
 * A deployment's own limit on calls of the API, asked after sign-in and before the database: Workers' rate limiting
 * binding, a counter of one's own, whatever the platform has. There is none unless `AppDeps` brings one.
 *
 * When it throws, the call is let through: a limiter that is down must not stop the queue.
 */
export interface RateLimit {
  check(call: RateLimitedCall): Promise<RateVerdict>;
}
