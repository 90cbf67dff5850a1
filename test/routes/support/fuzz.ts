import fc from 'fast-check';
import { SignJWT } from 'jose';
import type pg from 'pg';

import { createApp } from '../../../functions/app.ts';
import type { App } from '../../../functions/app.ts';
import type { AppDeps } from '../../../functions/deps.ts';
import { createIsolateMetrics } from '../../../functions/metrics/metrics-over.ts';
import { createSingleBatchFeed } from '../../../functions/feed/single-batch-feed.ts';
import { createJwksCache } from '../../../functions/middleware/jwks.ts';
import { NO_WAKE_CLOCK } from '../../../functions/wake/no-wake-clock.ts';
import {
  webClock,
  webIds,
  webOutbound,
  webRandom,
  webTimer,
} from '../../../functions/web-ports.ts';
import { waitAtMost } from '../../../shared/bounded-wait.ts';
import { parseConfig } from '../../../shared/config.ts';
import { handlerRegistry } from '../../../shared/handler-registry.ts';
import { MAX_POLL_MS } from '../../../shared/poll-until.ts';
import type { Sql } from '../../../shared/ports.ts';
import { SCOPES } from '../../../shared/scopes.ts';
import { RecordingLog } from '../../unit/support/recording-log.ts';
import { fuzzRequest } from './fuzz-requests.ts';
import type { FuzzRequest } from './fuzz-requests.ts';

const SECRET = 'a-secret-for-the-fuzz-of-32-bytes-or-more';
/** Of real time, for one request. */
const HANG_MS = 20_000;
const DAY_SECONDS = 86_400;

export interface FuzzReport {
  /** How many answers had each status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** The smallest request that broke a promise, and which, or undefined. */
  readonly fault: string | undefined;
}

/**
 * Sends malformed requests to the whole app over a real database. After each: no 5xx, an answer in time, a problem
 * document for a refusal, and nothing written by one that was refused.
 *
 * @param options.seed the same seed sends the same requests
 * @param options.onRequest told after each
 */
export async function fuzz(options: {
  readonly sql: Sql;
  readonly pool: pg.Pool;
  readonly seed: number;
  readonly requests: number;
  readonly onRequest?: (count: number) => void;
}): Promise<FuzzReport> {
  const app = createApp(fuzzDeps(options.sql));
  const tokens = await makeTokens();
  const read = await stateReader(options.pool);
  const statuses = new Map<number, number>();
  let state = await read();
  let count = 0;

  const outcome = await fc.check(
    fc.asyncProperty(fuzzRequest, async (request) => {
      const answer = await answerTo(app, request, tokens);
      count += 1;
      options.onRequest?.(count);
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      if (answer.status >= 500) throw new Error(`${answer.status}: ${answer.text.slice(0, 500)}`);
      const after = await read();
      const wrote = after !== state;
      const before = state;
      state = after;
      if (answer.status < 400) return;
      if (wrote) {
        throw new Error(`${answer.status}, and yet it wrote: ${before} -> ${after}`);
      }
      if (request.method !== 'HEAD' && !answer.text.includes('"code":"')) {
        throw new Error(`${answer.status} without a problem document`);
      }
    }),
    { seed: options.seed, numRuns: options.requests, endOnFailure: false },
  );
  const fault = outcome.failed
    ? `${String(outcome.errorInstance)}\n${fc.defaultReportMessage(outcome)}`
    : undefined;
  return { statuses, fault };
}

async function answerTo(
  app: App,
  request: FuzzRequest,
  tokens: Readonly<Record<FuzzRequest['token'], string | undefined>>,
): Promise<{ readonly status: number; readonly text: string }> {
  const headers = new Headers({ 'content-type': 'application/json' });
  for (const [name, value] of request.headers) headers.set(name, value);
  const token = tokens[request.token];
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  const takesBody = request.method !== 'GET' && request.method !== 'HEAD';
  const answer = await waitAtMost(webTimer, HANG_MS, async () => {
    const response = await app.fetch(
      new Request(`https://fuzz.test${request.path}`, {
        method: request.method,
        headers,
        ...(takesBody && request.body !== null ? { body: request.body } : {}),
      }),
    );
    return { status: response.status, text: await response.text() };
  });
  if (answer.kind === 'value') return answer.value;
  throw new Error(answer.kind === 'error' ? `it threw: ${String(answer.error)}` : 'it hung');
}

/** The pauses of a request that waits take no time, so that 20 s are over at once; time-outs are real. */
function fuzzDeps(sql: Sql): AppDeps {
  let passedMs = 0;
  const clock = { now: () => webClock.now() + passedMs };
  const schema = { verified: false };
  return {
    config: parseConfig({
      DATABASE_URL: 'postgres://not:used@127.0.0.1:1/fuzz',
      AUTH_SECRET: SECRET,
      POKE_SECRETS: `whsec_${btoa('a poke key for the fuzz, unused.')}`,
    }),
    sql,
    clock,
    timer: {
      sleep: async (milliseconds, signal) => {
        if (milliseconds > MAX_POLL_MS) return await webTimer.sleep(milliseconds, signal);
        passedMs += milliseconds;
      },
    },
    random: webRandom,
    ids: webIds,
    log: new RecordingLog(),
    handlers: handlerRegistry([]),
    schema,
    jwks: createJwksCache(),
    proxyKeys: createJwksCache(),
    contract: {},
    metrics: createIsolateMetrics({ sql, clock, schema }),
    outbound: webOutbound,
    background: { run: (task) => void task() },
    poker: { send: async () => 'taken' },
    wake: NO_WAKE_CLOCK,
    feed: createSingleBatchFeed({ sql, schema }),
    invocationMs: 30_000,
  };
}

/** Good for longer than all the pauses that take no time. */
async function makeTokens(): Promise<Readonly<Record<FuzzRequest['token'], string | undefined>>> {
  const sign = async (claims: Readonly<Record<string, unknown>>): Promise<string> =>
    await new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject('fuzz')
      .setExpirationTime(Math.floor(webClock.now() / 1000) + 3650 * DAY_SECONDS)
      .sign(new TextEncoder().encode(SECRET));
  const scope = SCOPES.join(' ');
  return {
    all: await sign({ scope }),
    limited: await sign({ scope, queues: ['other'] }),
    'one scope': await sign({ scope: 'read' }),
    junk: 'eyJhbGciOiJIUzI1NiJ9.e30.AAAA',
    none: undefined,
  };
}

/**
 * A reader of what the tables hold: rows and the newest row version of each, so that an update shows as well. The record of
 * a refusal under its Idempotency-Key is meant to be kept.
 */
async function stateReader(pool: pg.Pool): Promise<() => Promise<string>> {
  const { rows } = await pool.query<{ name: string }>(
    `select c.relname as name from pg_class c
     where c.relnamespace = 'leasehold'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and c.relname <> 'idempotency_keys'
     order by 1`,
  );
  const parts = rows.map(
    ({ name }) =>
      `select '${name}' as name, count(*) as rows, coalesce(max(xmin::text::bigint), 0) as version from leasehold.${name}`,
  );
  const text = `select string_agg(format('%s %s %s', name, rows, version), ', ') as state from (${parts.join(' union all ')}) t`;
  return async () => {
    const found = await pool.query<{ state: string }>(text);
    return found.rows[0]?.state ?? '';
  };
}
