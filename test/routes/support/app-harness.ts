import { SignJWT } from 'jose';

import { createApp } from '../../../functions/app.ts';
import type { AppDeps } from '../../../functions/deps.ts';
import { createIsolateMetrics } from '../../../functions/metrics/metrics-over.ts';
import { feedHubOver } from '../../../functions/feed/hub-over.ts';
import { createJwksCache } from '../../../functions/middleware/jwks.ts';
import type { Route } from '../../../functions/routes/route.ts';
import {
  webClock,
  webIds,
  webOutbound,
  webRandom,
  webTimer,
} from '../../../functions/web-ports.ts';
import { parseConfig } from '../../../shared/config.ts';
import { defined } from '../../../shared/defined.ts';
import type { Handler } from '../../../shared/handler.ts';
import { handlerRegistry } from '../../../shared/handler-registry.ts';
import type { Poke } from '../../../shared/ports.ts';
import { SCOPES } from '../../../shared/scopes.ts';
import { createTestDatabase } from '../../support/database.ts';
import type { TestDatabase } from '../../support/database.ts';
import { createHttpSql } from '../../support/http-sql.ts';
import type { HttpSql } from '../../support/http-sql.ts';
import { RecordingLog } from '../../unit/support/recording-log.ts';

export const AUTH_SECRET = 'a-secret-for-tests-of-32-bytes-or-more';
export const POKE_KEY = `whsec_${btoa('the poke key of the route tests.')}`;
export const SECOND_POKE_KEY = `whsec_${btoa('the next poke key: being rotated')}`;

export interface CallOptions {
  /** Sent as JSON unless it is text or bytes. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Scopes of the token; null: no token. Default: all. */
  readonly scope?: string | null;
  /** Subject of the token. */
  readonly actor?: string;
  /** The only queues the token is for. */
  readonly queues?: readonly string[];
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Of a JSON answer; null when there is none. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** The app in this process, over the real driver, a real `/sql` endpoint and a real database. */
export interface AppHarness {
  readonly database: TestDatabase;
  readonly http: HttpSql;
  readonly log: RecordingLog;
  /** Pokes that were sent, in order. They go nowhere. */
  readonly pokes: Poke[];
  /** Instants that the wake clock was asked for, in order. It never wakes. */
  readonly wakes: number[];
  deps(overrides?: Partial<AppDeps>): AppDeps;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** The same against an app of other parts. */
  callApp(
    parts: { readonly deps?: AppDeps; readonly routes?: readonly Route[] },
    request: Request,
  ): Promise<Answer>;
  request(method: string, path: string, options?: CallOptions): Promise<Request>;
  /** Waits for all work that was put into the background. */
  backgroundDone(): Promise<void>;
  close(): Promise<void>;
}

export interface HarnessOptions {
  readonly handlers?: readonly Handler[];
  readonly config?: Readonly<Record<string, string>>;
}

export async function createAppHarness(options: HarnessOptions = {}): Promise<AppHarness> {
  const database = await createTestDatabase();
  const http = await createHttpSql(database);
  const log = new RecordingLog();
  const pokes: Poke[] = [];
  const wakes: number[] = [];
  const background: Promise<void>[] = [];
  const schema = { verified: false };
  const base: AppDeps = {
    config: parseConfig({
      DATABASE_URL: http.connectionString,
      AUTH_SECRET,
      POKE_SECRETS: `${POKE_KEY} ${SECOND_POKE_KEY}`,
      ...options.config,
    }),
    sql: http.sql,
    clock: webClock,
    timer: webTimer,
    random: webRandom,
    ids: webIds,
    log,
    handlers: handlerRegistry(options.handlers ?? []),
    schema,
    jwks: createJwksCache(),
    proxyKeys: createJwksCache(),
    contract: {},
    metrics: createIsolateMetrics({ sql: http.sql, clock: webClock, schema }),
    outbound: webOutbound,
    background: { run: (task) => void background.push(task()) },
    poker: {
      send: async (poke) => {
        pokes.push(poke);
        return 'taken';
      },
    },
    wake: {
      wakeAt: async (at) => {
        wakes.push(at);
      },
    },
    feed: feedHubOver({
      sql: http.sql,
      clock: webClock,
      timer: webTimer,
      random: webRandom,
      log,
    }),
    invocationMs: 30_000,
  };

  const harness: AppHarness = {
    database,
    http,
    log,
    pokes,
    wakes,
    deps: (overrides = {}) => ({ ...base, ...overrides }),
    request: async (method, path, { body, headers, scope, actor, queues } = {}) => {
      const token =
        scope === null
          ? undefined
          : await signToken(scope ?? SCOPES.join(' '), defined({ subject: actor, queues }));
      return new Request(`https://leasehold.test${path}`, {
        method,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: bodyOf(body) }),
      });
    },
    call: async (method, path, callOptions) =>
      await harness.callApp({}, await harness.request(method, path, callOptions)),
    callApp: async ({ deps = base, routes }, request) => {
      const app = routes === undefined ? createApp(deps) : createApp(deps, routes);
      return await answerOf(await app.fetch(request));
    },
    backgroundDone: async () => {
      while (background.length > 0) await background.shift();
    },
    close: async () => {
      await harness.backgroundDone();
      await http.close();
      await database.drop();
    },
  };
  return harness;
}

/** A token of the deployment under test; claims may be bent. */
export async function signToken(
  scope: string,
  bent: {
    readonly subject?: string;
    readonly expiresAt?: number;
    readonly secret?: string;
    readonly queues?: unknown;
    readonly claims?: Readonly<Record<string, unknown>>;
  } = {},
): Promise<string> {
  const expiresAt = bent.expiresAt ?? Math.floor(webClock.now() / 1000) + 300;
  return await new SignJWT(defined({ scope, queues: bent.queues, ...bent.claims }))
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(bent.subject ?? 'route-tests')
    .setExpirationTime(expiresAt)
    .sign(new TextEncoder().encode(bent.secret ?? AUTH_SECRET));
}

function bodyOf(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return body;
  return body instanceof Uint8Array ? Uint8Array.from(body) : JSON.stringify(body);
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
  return { status: response.status, headers: response.headers, body };
}
