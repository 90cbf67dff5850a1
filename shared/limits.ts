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
/** Jobs that one invocation may run one after another, and how many it does unless it is told otherwise. */
export const MAX_JOBS_PER_INVOCATION = 100;
export const DEFAULT_JOBS_PER_INVOCATION = 1;
/** Jobs that no handler can run which one invocation buries on its way to one that it can. */
export const MAX_UNRUNNABLE_PER_WORK = 8;
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
/** Pokes on their way from one isolate, in all and for one queue; what comes beyond them is left to the drain. */
export const MAX_POKES_IN_FLIGHT = 64;
export const MAX_POKES_IN_FLIGHT_PER_QUEUE = 48;
/** Work that a lost poke was for is drained after this time. */
export const POKE_LOST_MS = 1000;
/** Due instants of one isolate are handed to the wake clock at most this often: the earliest of each time. */
export const WAKE_BATCH_MS = 250;
/** One request hands on those of others for so many times at most. */
export const MAX_WAKE_BATCHES = 8;
/** A request hands a due instant to the wake clock within this time, or leaves it to the safety sweep. */
export const WAKE_TIMEOUT_MS = 10_000;
/** An alarm that is late by more has been lost: platforms may be a minute late when they move an object. */
export const WAKE_STUCK_MS = 90_000;
/** Between the end of one drain of the wake clock and the start of the next, at least. */
export const DRAIN_GAP_MS = 250;
/** A tick of the wake clock that has not ended by then counts as failed; alarms on Workers may take 15 minutes. */
export const MAX_TICK_MS = 5 * 60 * 1000;
/** After a failed tick the next comes after this time, doubled with each that fails. */
export const FAILED_TICK_MS = 2000;
/** A look into the database however quiet it is; each costs a serverless one its wake-up and five minutes (docs/sleep.md). */
export const DEFAULT_SAFETY_SWEEP_MINUTES = 60;
export const MAX_SAFETY_SWEEP_MINUTES = 7 * 24 * 60;
/** Due work that nobody took is looked at again after its age, so ever more seldom, but not before and not after these. */
export const MIN_LOOK_AGAIN_MS = 1000;
export const MAX_LOOK_AGAIN_MS = 60 * 60 * 1000;
/** A drain starts no further poke after this time: what comes due meanwhile waits for the next one. */
export const MAX_DRAIN_MS = 10_000;
/** Expired leases settled per queue and drain, for queues that no handler here serves. */
export const MAX_DRAIN_SETTLED_JOBS = 100;
/** Queues whose expired leases one drain settles at most, the longest waiting first: one statement each. */
export const MAX_DRAIN_SETTLED_QUEUES = 40;

/** Keys that order or deduplicate jobs, and keys of effects. */
export const MAX_KEY_CHARS = 200;
export const MAX_TAGS = 20;
export const MAX_TAG_CHARS = 100;
export const MAX_IDEMPOTENCY_KEY_CHARS = 255;
/** Of an answer that is kept for replays; a longer one is made again from the same ids. */
export const MAX_KEPT_ANSWER_BYTES = 1024 * 1024;

/** A long poll answers after this time at the latest. */
export const MAX_WAIT_SECONDS = 20;
/** Kept free at the end of an invocation that waits, to write the answer. */
export const WAIT_MARGIN_MS = 2000;
export const MAX_CLAIM_BATCH = 100;
/** Queues of one claim over several: each costs a round trip when those before it are empty. */
export const MAX_CLAIM_QUEUES = 10;
export const MAX_WEIGHT = 100;
export const MAX_SECONDS_PER_JOB = 60 * 60;
export const MAX_ERROR_CODE_CHARS = 100;
/** Why a result is not there, in the words of who could not store it. */
export const MAX_RESULT_PROBLEM_CHARS = 200;
/** What another service may ask for; the longest backoff of the queue cuts it further. */
export const MAX_RETRY_AFTER_SECONDS = 30 * 24 * 60 * 60;

export const MAX_REASON_CHARS = 1000;
/** Notes of people, and questions to them. */
export const MAX_NOTE_CHARS = 4000;
/** A person's hold on an escalated job; without a wish it lasts 15 minutes. */
export const MAX_HOLD_SECONDS = 24 * 60 * 60;
/** Dead letters settled by one call. */
export const MAX_SETTLED_JOBS = 1000;
/** Ids that a dry run shows. */
export const MAX_SAMPLE_IDS = 20;
export const MAX_REDRIVES_PER_SECOND = 1000;
/** Of an effect's result as JSON text. */
export const MAX_EFFECT_RESULT_BYTES = 64 * 1024;

/** Queues that a token can be limited to. */
export const MAX_TOKEN_QUEUES = 100;
/** Public keys of a sign-in provider are asked for anew after this time, or sooner for a key that is not among them. */
export const JWKS_MAX_AGE_MS = 10 * 60 * 1000;
/** While the provider does not answer, keys up to this age go on counting. */
export const JWKS_MAX_STALE_MS = 60 * 60 * 1000;
/** A key that is not among them asks the provider at most this often. */
export const JWKS_COOLDOWN_MS = 30 * 1000;
export const JWKS_TIMEOUT_MS = 5000;
export const MAX_JWKS_BYTES = 64 * 1024;
export const MAX_JWKS_KEYS = 100;
/** Longer texts are not tokens of ours; checked before any cryptography. */
export const MAX_TOKEN_CHARS = 8192;
/** A session of the board keeps its token in a cookie, and browsers take cookies of 4,096 bytes, name and all. */
export const MAX_SESSION_TOKEN_CHARS = 3800;
/** A browser forgets a session after this time, however long its token counts. */
export const MAX_SESSION_SECONDS = 7 * 24 * 60 * 60;
/** Script and style of the board, compressed, together. */
export const MAX_BOARD_BYTES = 80_000;

/** A shorter snooze would be a busy loop that spends no attempts. */
export const MIN_SNOOZE_SECONDS = 1;

/** A push waits this long for its answer, or less when lease or invocation end before. */
export const PUSH_TIMEOUT_MS = 20_000;
/** Kept of the answer to a push that succeeded. */
export const MAX_PUSH_RESPONSE_BYTES = 4 * 1024;
/** Kept of the answer to a push or request that failed, in its diagnostics. */
export const MAX_FAILED_RESPONSE_CHARS = 1000;

/** A slot of a schedule that is no older than this when a tick finds it is on time: ticks come once a minute, or a little later. */
export const ON_TIME_SECONDS = 90;
export const MAX_SCHEDULE_NAME_CHARS = 128;
/** Missed slots that one schedule may make up for. */
export const MAX_MISSED_SLOTS = 100;
/** Schedules that one tick reads at a time, and how often it reads. */
export const MAX_TICK_SCHEDULES = 100;
export const MAX_TICK_READS = 5;
/** Schedules decided at one time: Workers allow six open connections. */
export const MAX_CONCURRENT_FIRINGS = 5;
/** Ended attempts that an answer about a job shows, the newest: as many as one budget can hold. The event log has all of them. */
export const MAX_SHOWN_ATTEMPTS = 100;
/** Slots to come that an answer about a schedule shows. */
export const SHOWN_SLOTS = 5;
/** A tick that went well is noted this often, and not each time: the note would become a hot row. */
export const TICK_NOTED_EVERY_SECONDS = 5 * 60;
export const RETENTION_EVERY_SECONDS = 60 * 60;
/** Rows of each kind that one call of retention deletes, and calls of one pass. */
export const MAX_RETENTION_ROWS = 5000;
export const MAX_RETENTION_CALLS = 20;
/** Answers to idempotency keys are kept at least this long. */
export const IDEMPOTENCY_KEY_HOURS = 24;

/** Events that a relay claims at a time, and the lease on their shard. */
export const RELAY_BATCH_EVENTS = 100;
export const RELAY_LEASE_SECONDS = 30;
/** A batch starts no further event after this time and marks what is out: it bounds what a crash sends twice. */
export const RELAY_BATCH_MS = 5000;
/** Events of different aggregates in flight together: Workers allow six open connections. */
export const MAX_CONCURRENT_PUBLISHES = 5;
/** One pass of a relay takes no further batch after this time. */
export const MAX_RELAY_MS = 20_000;
/** Tries of one event before it is quarantined. */
export const DEFAULT_PUBLISH_ATTEMPTS = 10;
export const MAX_PUBLISH_ATTEMPTS = 100;
/** After it was done an event loses its payload, then its envelope; a consumer forgets it. */
export const DEFAULT_PAYLOAD_DAYS = 30;
export const DEFAULT_EVENT_DAYS = 90;
export const DEFAULT_INBOX_DAYS = 90;
export const MAX_RETENTION_DAYS = 36_500;
/** A receiver that could not be reached so often in a row, and took nothing meanwhile, ends the pass. */
export const MAX_AWAY_IN_A_ROW = 5;
/** A relay waits this long for the answer of a publisher. */
export const PUBLISH_TIMEOUT_MS = 15_000;
/** A stream of NATS acknowledges within this time, and a connection to it is open within this time. */
export const NATS_TIMEOUT_MS = 5000;
export const MAX_AGGREGATE_ID_CHARS = 200;
/** Events that one call replays or skips. */
export const MAX_CHOSEN_EVENTS = 100;
/** What a poke for the relay calls itself in the log. */
export const OUTBOX_POKE_QUEUE = 'outbox';

/** A live stream ends after this time at the latest; its reader comes back with what it has (docs/live-feed.md). */
export const MAX_STREAM_MS = 5 * 60 * 1000;
/** A quiet stream says this often that it is there. */
export const STREAM_HEARTBEAT_MS = 15 * 1000;
/** A reader that lies so far behind is let go, and catches up at its own pace when it comes back. */
export const MAX_STREAM_BACKLOG_BYTES = 4 * 1024 * 1024;
/** Streams that one live feed has open at a time. */
export const MAX_FEED_VIEWERS = 500;
/** Who asks for one more is told to come back after this time. */
export const FEED_FULL_RETRY_SECONDS = 10;
/** What all readers of one feed together have not taken yet: beyond it, who lies furthest behind is cut off. */
export const MAX_FEED_BACKLOG_BYTES = 32 * 1024 * 1024;
/** After the end of a stream its reader has so long to take the rest of it. */
export const STREAM_LINGER_MS = 15 * 1000;
/** When readers come back after a stream has ended: at a time of its own each, so that they do not come all at once. */
export const MIN_RETURN_MS = 500;
export const MAX_RETURN_MS = 3000;
/** Events that the live feed reads at a time, settled ones and as many early ones. */
export const MAX_FEED_EVENTS = 200;
/** Between two looks of the live feed, however many hints come. */
export const FEED_GAP_MS = 200;
/** Where no hints come, the live feed looks this often while somebody watches. */
export const FEED_PACE_MS = 2000;
/** While committed events lie above a running transaction, the feed looks again after these times, ever longer ones. */
export const MIN_UNSETTLED_LOOK_MS = 250;
export const MAX_UNSETTLED_LOOK_MS = 30 * 1000;
/** A look that failed is repeated after ever longer times, up to this. */
export const MAX_FEED_RETRY_MS = 10 * 1000;
/** The overview is sent to viewers at most this often, and only after changes. */
export const FEED_OVERVIEW_GAP_MS = 2000;
/** Settled events that the feed keeps in memory for readers that come back. */
export const MAX_RECENT_EVENTS = 2000;
/** Measures that were read are told for so long whatever changes; where changes may go unheard of, for an hour at most. */
export const METRICS_KEPT_MS = 10_000;
export const METRICS_KEPT_AT_MOST_MS = 60 * 60 * 1000;
/** Changes of one isolate are told to the live feed at most this often. */
export const FEED_BATCH_MS = 100;
/** A hint to the live feed is given up after this time. */
export const FEED_HINT_TIMEOUT_MS = 5000;
/** On a platform that cannot tell that a reader has gone, which pays for a stream to its end. */
export const MAX_UNWATCHED_STREAM_MS = 60 * 1000;
/** Pages of changes in one answer where answers are sent whole: what is more comes with the next one. */
export const MAX_SINGLE_BATCH_PAGES = 5;
/** Ended spans that an isolate keeps until they are sent; further ones are dropped. */
export const MAX_KEPT_SPANS = 2048;
export const SPAN_EXPORT_TIMEOUT_MS = 5000;
