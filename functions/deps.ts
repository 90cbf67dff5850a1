import type { Config } from '../shared/config.ts';
import { parseConfig } from '../shared/config.ts';
import { createNeonSql } from '../shared/database/neon-sql.ts';
import type { HandlerRegistry } from '../shared/handler-registry.ts';
import type { MetricsSource } from '../shared/metrics/kept-metrics.ts';
import type { Clock, Ids, Log, Outbound, Poker, Random, Sql, Timer } from '../shared/ports.ts';
import type { TraceContext } from '../shared/trace-context.ts';
import type { Tracer } from '../shared/tracer.ts';
import type { WakeClock } from '../shared/wake/wake-clock.ts';
import type { Publisher } from '../shared/publish/publisher.ts';
import type { Background } from './background.ts';
import type { BoardAssets } from './board/board-assets.ts';
import type { ContractTexts } from './contract-texts.ts';
import type { LiveFeed } from './feed/live-feed.ts';
import { createJsonLog } from './json-log.ts';
import { createIsolateMetrics } from './metrics/metrics-over.ts';
import { createJwksCache } from './middleware/jwks.ts';
import type { JwksCache } from './middleware/jwks.ts';
import { configuredPublisher } from './publish/configured-publisher.ts';
import type { PublisherPorts } from './publish/configured-publisher.ts';
import type { RateLimit } from './rate-limit.ts';
import type { SchemaGate } from './schema-gate.ts';
import { createTracing } from './tracing/otlp-tracing.ts';
import type { TracingPorts } from './tracing/otlp-tracing.ts';
import { webClock, webIds, webOutbound, webRandom, webTimer } from './web-ports.ts';

/**
 * What outlives a request: constants, and values that can be lost. No socket, stream or pending promise is among them:
 * `sql` makes a fresh HTTP request for each statement.
 */
export interface IsolateDeps {
  readonly config: Config;
  readonly sql: Sql;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly random: Random;
  readonly ids: Ids;
  readonly log: Log;
  readonly handlers: HandlerRegistry;
  readonly schema: SchemaGate;
  /** Sends pushed jobs. */
  readonly outbound: Outbound;
  /** Where the relay sends events of the outbox; absent: this deployment publishes none. */
  readonly publisher?: Publisher;
  /** Public keys of the sign-in provider. */
  readonly jwks: JwksCache;
  /** Those of the proxy that signs people in, if there is one. */
  readonly proxyKeys: JwksCache;
  readonly contract: ContractTexts;
  /** Makes spans; absent: nothing is traced. */
  readonly tracer?: Tracer;
  /** Sends the spans that have ended. */
  readonly flushSpans?: () => Promise<void>;
  /** What `GET /metrics` tells. */
  readonly metrics: MetricsSource;
}

/** What the app gets, for one invocation. */
export interface AppDeps extends IsolateDeps {
  /** Of the request that is served. */
  readonly trace?: TraceContext;
  /** Keeps the invocation alive for work after the answer. */
  readonly background: Background;
  readonly poker: Poker;
  /** Brings a drain at an instant. */
  readonly wake: WakeClock;
  /** Tells of what was committed, and follows the event log. */
  readonly feed: LiveFeed;
  /** How long the platform lets one invocation run, in milliseconds: bounds leases and runs. */
  readonly invocationMs: number;
  /** For how much of it jobs are taken behind the first one, in milliseconds; half of it at most, and when absent. */
  readonly takesMoreMs?: number;
  /** Script and style of the board; without them it has none. */
  readonly assets?: BoardAssets;
  /** The deployment's own limit on calls; none when absent. */
  readonly rateLimit?: RateLimit;
}

/**
 * Turns a platform's variables into the ports.
 *
 * @param record variables by name; see `Config`
 * @param platform ports that one platform has, or has better ones for
 * @throws {LeaseholdError} `config_invalid` with all faults
 */
export function createIsolateDeps(
  record: Readonly<Record<string, unknown>>,
  handlers: HandlerRegistry,
  platform: Partial<Pick<IsolateDeps, 'log' | 'outbound'>> &
    Pick<PublisherPorts, 'awsPublisher'> = {},
): IsolateDeps {
  const config = parseConfig(record);
  const ports = {
    clock: webClock,
    timer: webTimer,
    random: webRandom,
    log: platform.log ?? createJsonLog(webClock),
  };
  const sql = createNeonSql({ connectionString: config.databaseUrl.reveal(), ...ports });
  const publisher = configuredPublisher(config, {
    ...ports,
    ...platform,
    outbound: platform.outbound ?? webOutbound,
  });
  const schema = { verified: false };
  const tracing = tracingOf(config, { ...ports, fetch: (request) => fetch(request) });
  return {
    ...ports,
    ...tracing,
    config,
    ...(publisher === undefined ? {} : { publisher }),
    sql,
    ids: webIds,
    handlers,
    schema,
    outbound: platform.outbound ?? webOutbound,
    jwks: createJwksCache(),
    proxyKeys: createJwksCache(),
    contract: {},
    metrics: createIsolateMetrics({ ...ports, sql, schema }),
  };
}

function tracingOf(
  { tracing: settings }: Config,
  ports: TracingPorts,
): Pick<IsolateDeps, 'tracer' | 'flushSpans'> {
  if (settings === undefined) return {};
  const { tracer, flush } = createTracing(settings, ports);
  return { tracer, flushSpans: flush };
}
