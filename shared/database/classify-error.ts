/**
 * - `definite`: the statement failed and changed nothing, and will fail again.
 * - `retryable`: it failed and changed nothing, and may well succeed a moment later.
 * - `unknown`: it may or may not have been committed; the statement must be repeated to learn it.
 */
export type FailureKind = 'definite' | 'retryable' | 'unknown';

export interface FailureClass {
  readonly kind: FailureKind;
  /** Only when Postgres itself named the fault. */
  readonly sqlState: string | undefined;
}

export interface FailureContext {
  /** Status of the HTTP answer, when there was one. */
  readonly httpStatus?: number | undefined;
  /** We gave up on the try ourselves: then a cancelled statement may just as well have finished. */
  readonly abortedByUs?: boolean;
}

/**
 * Sorts what a database driver threw, for a driver over HTTP or TCP alike.
 *
 * Only a SQLSTATE is proof that nothing was committed, and some SQLSTATEs are not. In particular, over HTTP: status 400
 * without a code is also what a connection lost during commit looks like; 500 covers everything between the proxy and
 * the database; 507 (answer too large) comes after a single statement has committed; an answer that breaks off, is not
 * JSON or never comes says nothing.
 *
 * @example classifyError(error, { httpStatus: 400 }).kind
 */
export function classifyError(error: unknown, context: FailureContext = {}): FailureClass {
  const sqlState = sqlStateOf(error);
  if (sqlState !== undefined) return { kind: kindOfSqlState(sqlState, context), sqlState };
  const { httpStatus } = context;
  const kind = httpStatus !== undefined && isRefusal(httpStatus) ? 'definite' : 'unknown';
  return { kind, sqlState };
}

/** Serialization failure, deadlock, lock not available: rolled back, worth another try. */
const CONTENTION: readonly string[] = ['40001', '40P01', '55P03'];
/** A write met a hot standby: nothing happened, and a failover will end it. */
const READ_ONLY = '25006';
/** Too many connections, out of memory, disk full: not executed, and it passes. */
const INSUFFICIENT_RESOURCES = '53';
const QUERY_CANCELED = '57014';

/** Whether another transaction stood in the way: then a short pause is enough. */
export function isContention(sqlState: string | undefined): boolean {
  return sqlState !== undefined && CONTENTION.includes(sqlState);
}

function kindOfSqlState(sqlState: string, context: FailureContext): FailureKind {
  if (isContention(sqlState)) return 'retryable';
  if (sqlState === READ_ONLY || sqlState.startsWith(INSUFFICIENT_RESOURCES)) return 'retryable';
  // Connection lost; shutdown, crash, "cannot connect now"; statement completion unknown.
  if (sqlState.startsWith('08') || sqlState.startsWith('57P0') || sqlState === '40003') {
    return 'unknown';
  }
  if (sqlState === QUERY_CANCELED && context.abortedByUs === true) return 'unknown';
  return 'definite';
}

/** Refused before it reached a database. 400 is not among them, nor are the statuses that ask for another try. */
function isRefusal(status: number): boolean {
  return status >= 300 && status < 500 && ![400, 408, 425, 429].includes(status);
}

/**
 * A real SQLSTATE comes with a severity. Without that rule the system error EPIPE (five capitals) would pass for one,
 * and so would the code that the proxy makes up for a query it cancelled itself.
 */
function sqlStateOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  if (!('code' in error && 'severity' in error)) return undefined;
  const { code, severity } = error;
  if (typeof severity !== 'string' || severity === '') return undefined;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}
