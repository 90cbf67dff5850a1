/** How long a platform lets one run of a handler take. */
export interface Platform {
  readonly name: string;
  readonly maxRunSeconds: number;
}

/** Runs come with pokes, and work behind an answered request ends after 30 s, whatever started it. */
export const CLOUDFLARE_WORKERS: Platform = { name: 'Cloudflare Workers', maxRunSeconds: 30 };

/** The longest time-out that a function can have. */
export const MAX_LAMBDA_SECONDS = 15 * 60;

/** @param timeoutSeconds of the function that works */
export function awsLambda(timeoutSeconds: number): Platform {
  return { name: 'AWS Lambda', maxRunSeconds: timeoutSeconds };
}
