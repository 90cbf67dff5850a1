/** Where libraries put the SQLSTATE, and where they put the error of the driver below them. */
const STATES = ['code', 'originalCode'];
const INNER = ['cause', 'meta', 'driverAdapterError'];
const MAX_DEPTH = 6;

/**
 * The error with this SQLSTATE inside what a library threw, however it wraps it; undefined when there is none.
 *
 * @example errorWithState(error, 'LH006') !== undefined
 */
export function errorWithState(error: unknown, state: string, depth = 0): object | undefined {
  if (typeof error !== 'object' || error === null || depth > MAX_DEPTH) return undefined;
  if (STATES.some((name) => Reflect.get(error, name) === state)) return error;
  for (const name of INNER) {
    const found = errorWithState(Reflect.get(error, name), state, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
