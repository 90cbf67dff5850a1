/** Answers that say "later": the request may well succeed then. */
const TRANSIENT = new Set([408, 425, 429]);

/** Whether another try can help: 408, 425, 429 and every 5xx. */
export function isTransientStatus(status: number): boolean {
  return status >= 500 || TRANSIENT.has(status);
}

/** By the fetch standard the status of a redirect that is not followed is hidden (0); Node and Workers show it. */
export function isRedirectStatus(status: number): boolean {
  return status === 0 || (status >= 300 && status < 400);
}

/** @example isSuccessStatus(204) // true */
export function isSuccessStatus(status: number): boolean {
  return status >= 200 && status < 300;
}

/**
 * The code under which an answer that is no success is stored and counted.
 *
 * @example statusCode(503) // 'http_503'
 */
export function statusCode(status: number): string {
  return isRedirectStatus(status) ? 'http_redirect' : `http_${status}`;
}
