/** Every bound of the product, with its unit in the name. Each has a test at its edge. */

export const MAX_QUEUE_NAME_CHARS = 128;
export const MAX_TYPE_NAME_CHARS = 128;
export const MAX_OWNER_CHARS = 200;
export const MAX_PROGRESS_CHARS = 200;

/** Of one request body, before parsing. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** Of one job's payload as JSON text. */
export const MAX_PAYLOAD_BYTES = 256 * 1024;
/** Of one job's result as JSON text. */
export const MAX_RESULT_BYTES = 256 * 1024;
/** Of one attempt's stored diagnostics as JSON text. */
export const MAX_ERROR_BYTES = 8 * 1024;
export const MAX_ERROR_MESSAGE_CHARS = 2000;
export const MAX_JSON_DEPTH = 64;
export const MAX_BATCH_JOBS = 1000;

export const MAX_ATTEMPTS = 100;
/** A job may be due at most this far ahead. */
export const MAX_DELAY_SECONDS = 366 * 24 * 60 * 60;

export const MIN_LEASE_SECONDS = 1;
export const MAX_LEASE_SECONDS = 60 * 60;
export const MAX_RUN_SECONDS = 24 * 60 * 60;

export const DEFAULT_PAGE_SIZE = 50;
export const MAX_PAGE_SIZE = 200;

/** Pokes that lead to pokes stop here; the drain starts afresh. Platforms stop self-calls about 16 deep. */
export const MAX_POKE_DEPTH = 8;
/** Pokes that one drain sends at most. */
export const MAX_DRAIN_POKES = 32;
/** Queues that one drain looks at, at most. */
export const MAX_DRAIN_QUEUES = 1000;
/** Pokes of one drain in flight together: Workers allow six open connections. */
export const MAX_CONCURRENT_POKES = 5;
/** Signed pokes older or newer than this are refused (the tolerance of Standard Webhooks). */
export const POKE_TOLERANCE_SECONDS = 5 * 60;

export const MIN_AUTH_SECRET_BYTES = 32;

/** Problems listed in one answer; the rest only repeat the lesson. */
export const MAX_FIELD_PROBLEMS = 20;

/** Headers that travel with a job (trace context and the like). */
export const MAX_JOB_HEADERS = 16;
export const MAX_JOB_HEADER_NAME_CHARS = 64;
export const MAX_JOB_HEADER_VALUE_CHARS = 512;
export const MAX_SCHEMA_VERSION = 1_000_000;

/** A handler may work this long without a progress marker unless it declares its own step time. */
export const DEFAULT_STEP_SECONDS = 60;
/** Lease asked for when no handler of the queue declares one. */
export const DEFAULT_LEASE_SECONDS = 30;
/** A runner stops this long before its own copy of the lease expiry, or a tenth of the lease if that is less. */
export const LEASE_MARGIN_MS = 1000;
/** Between two tries of a heartbeat, complete or fail whose answer did not come. */
export const REPORT_RETRY_MS = 1000;
/** Time an aborted handler gets to clean up before its attempt is reported without it. */
export const ABORT_GRACE_MS = 500;
/** Kept free at the end of an invocation, to report how the attempt ended. */
export const REPORT_MARGIN_MS = 2000;

/** A poke waits for the run it starts; Workers end background work after 30 s. */
export const POKE_TIMEOUT_MS = 30_000;
/** Expired leases settled per queue and drain, for queues that no handler here serves. */
export const MAX_DRAIN_SETTLED_JOBS = 100;
