import { handlerRegistry } from '../shared/handler-registry.ts';
import { CLOUDFLARE_WORKERS } from '../shared/platform.ts';
import type { MetricsSource } from '../shared/metrics/kept-metrics.ts';
import type { Poker } from '../shared/ports.ts';
import type { WakeClock } from '../shared/wake/wake-clock.ts';
import type { Background } from './background.ts';
import type { BoardAssets } from './board/board-assets.ts';
import { createIsolateDeps } from './deps.ts';
import type { AppDeps, IsolateDeps } from './deps.ts';
import { createBatchedEventFeed } from './feed/batched-event-feed.ts';
import type { FeedBatch } from './feed/batched-event-feed.ts';
import { createPacedFeed } from './feed/hub-over.ts';
import type { HubPorts } from './feed/hub-over.ts';
import type { LiveFeed } from './feed/live-feed.ts';
import { createRemoteFeed } from './feed/remote-feed.ts';
import { HANDLERS } from './handlers/index.ts';
import { heardBy } from './metrics/heard-changes.ts';
import { createRemoteMetrics } from './metrics/remote-metrics.ts';
import type { MetricsAnswer } from './metrics/remote-metrics.ts';
import { createNoPoker, createPoker } from './poker.ts';
import type { WatchedClock } from './scheduled/cron-tick.ts';
import type { TickDeps } from './scheduled/tick.ts';
import { createBatchedWakeClock } from './wake/batched-wake-clock.ts';
import type { WakeBatch } from './wake/batched-wake-clock.ts';
import { createHeldPoker } from './wake/held-poker.ts';
import type { PokesInFlight } from './wake/held-poker.ts';
import { NO_WAKE_CLOCK } from './wake/no-wake-clock.ts';

/**
 * What Cloudflare gives this Worker.
 *
 * **Pokes go through the service binding `SELF`.** A Worker cannot `fetch` its own hostname: within its zone that goes
 * past Workers to the origin, and on workers.dev it is error 1042. The binding works, with three limits to know:
 * it shares CPU time, subrequests and the six connections of the request that started the chain; calls from Worker to
 * Worker stop 16 deep (`MAX_POKE_DEPTH` stays below); and work after an answer gets 30 s. So chains are short, and the
 * drain, which the wake clock runs with budgets of its own, is what empties a long queue. `POKE_URL` is for deployments
 * without the binding.
 */
export interface WorkerEnv {
  /** This Worker, bound to itself. */
  readonly SELF?: Fetcher;
  /** The durable objects of `wake/durable-wake-clock.ts`; without them each tick of the cron looks into the database. */
  readonly WAKE_CLOCK?: { getByName(name: string): WakeClockStub };
  /** The durable object of `feed/durable-event-feed.ts`; without it each stream reads the log by itself. */
  readonly EVENT_FEED?: { getByName(name: string): EventFeedStub };
  /** The files of `functions/board/assets`; without them there is no board. */
  readonly ASSETS?: Fetcher;
  /** Variables and secrets, see `Config`. */
  readonly [name: string]: unknown;
}

/** What can be asked of the durable object from outside. */
export type WakeClockStub = WakeClock & WatchedClock;

/** What can be asked of the durable object that has the live feed. */
export interface EventFeedStub {
  /** Something was committed. */
  changed(): Promise<void>;
  /** What it keeps of the measures. */
  metrics(options: { readonly fresh: boolean }): Promise<MetricsAnswer>;
  fetch(request: Request): Promise<Response>;
}

/** Per isolate and environment: constants and what can be lost, no promise and no connection. */
interface Isolate {
  readonly deps: IsolateDeps;
  readonly pokes: PokesInFlight;
  readonly wakes: WakeBatch;
  readonly hints: FeedBatch;
}

/** One for the whole deployment: a second would drain beside the first. */
const WAKE_CLOCK_NAME = 'wake-clock';
/** One for the whole deployment: each one reads the log. */
const EVENT_FEED_NAME = 'event-feed';

/**
 * What a handler behind a poke can count on: the poke waits in `waitUntil`, which ends 30 s after the caller's answer,
 * and the vendor's pages disagree whether an HTTP request itself may take longer.
 */
const INVOCATION_MS = CLOUDFLARE_WORKERS.maxRunSeconds * 1000;

const HANDLER_REGISTRY = handlerRegistry(HANDLERS, CLOUDFLARE_WORKERS);

const ISOLATES = new WeakMap<WorkerEnv, Isolate>();

/** What the app gets, for one invocation. */
export function invocationDeps(
  env: WorkerEnv,
  execution: Pick<ExecutionContext, 'waitUntil'>,
): AppDeps {
  const isolate = isolateOf(env);
  return {
    ...isolate.deps,
    background: backgroundOf(execution),
    poker: createHeldPoker(pokerOf(env, isolate.deps), {
      ...isolate.deps,
      inFlight: isolate.pokes,
    }),
    wake: wakeOf(env, isolate),
    feed: feedOf(env, isolate, backgroundOf(execution)),
    metrics: metricsOf(env, isolate),
    ...(env.ASSETS === undefined ? {} : { assets: assetsOf(env.ASSETS) }),
    invocationMs: INVOCATION_MS,
  };
}

/** What a tick gets inside the wake clock itself. It bounds its own pokes, and those of requests do not hold them back. */
export function tickDeps(env: WorkerEnv, wake: WakeClock): TickDeps {
  const isolate = isolateOf(env);
  const { deps } = isolate;
  return {
    ...deps,
    poker: pokerOf(env, deps),
    wake,
    feed: feedOf(env, isolate, { run: (task) => void task() }),
    invocationMs: INVOCATION_MS,
  };
}

/** What the live feed gets inside its durable object. */
export function feedPorts(env: WorkerEnv): HubPorts & Pick<IsolateDeps, 'schema'> {
  return isolateOf(env).deps;
}

/** See `Config`. */
export function safetySweepMs(env: WorkerEnv): number | undefined {
  return isolateOf(env).deps.config.safetySweepMs;
}

/** The wake clock of this deployment, unless it has none or does without. */
export function wakeClockOf(env: WorkerEnv): WakeClockStub | undefined {
  return isolateOf(env).deps.config.timedWakes
    ? env.WAKE_CLOCK?.getByName(WAKE_CLOCK_NAME)
    : undefined;
}

function isolateOf(env: WorkerEnv): Isolate {
  const kept = ISOLATES.get(env);
  if (kept !== undefined) return kept;
  const made: Isolate = {
    deps: createIsolateDeps(env, HANDLER_REGISTRY),
    pokes: new Set(),
    wakes: { waiting: undefined, handedOnAt: undefined },
    hints: { waiting: false, tellingSince: undefined },
  };
  ISOLATES.set(env, made);
  return made;
}

function backgroundOf(execution: Pick<ExecutionContext, 'waitUntil'>): Background {
  return { run: (task) => execution.waitUntil(task()) };
}

function wakeOf(env: WorkerEnv, { deps, wakes }: Isolate): WakeClock {
  if (wakeClockOf(env) === undefined) return NO_WAKE_CLOCK;
  return createBatchedWakeClock(
    // A stub each time: one whose call has failed may not work any more.
    { wakeAt: async (at) => await wakeClockOf(env)?.wakeAt(at) },
    { ...deps, batch: wakes },
  );
}

function metricsOf(env: WorkerEnv, { deps }: Isolate): MetricsSource {
  const { EVENT_FEED: feeds } = env;
  if (feeds === undefined) return deps.metrics;
  return createRemoteMetrics((options) => feeds.getByName(EVENT_FEED_NAME).metrics(options));
}

function feedOf(env: WorkerEnv, { deps, hints }: Isolate, background: Background): LiveFeed {
  const { EVENT_FEED: feeds } = env;
  if (feeds === undefined) return heardBy(deps.metrics, createPacedFeed(deps));
  const batched = createBatchedEventFeed({
    ...deps,
    background,
    batch: hints,
    tell: async () => await feeds.getByName(EVENT_FEED_NAME).changed(),
  });
  return createRemoteFeed(batched, async (address) => {
    return await feeds.getByName(EVENT_FEED_NAME).fetch(new Request(address));
  });
}

/** Whatever the host says: of the address, the files know the path alone. */
function assetsOf(files: Fetcher): BoardAssets {
  return {
    fetch: (name, headers) => files.fetch(`https://leasehold.internal/${name}`, { headers }),
  };
}

function pokerOf(env: WorkerEnv, isolate: IsolateDeps): Poker {
  const { config, log } = isolate;
  const [key] = config.pokeSecrets;
  const { SELF: self } = env;
  const baseUrl = self === undefined ? config.pokeUrl : new URL('https://leasehold.internal');
  if (key === undefined || baseUrl === undefined) return createNoPoker(log);
  return createPoker({
    ...isolate,
    baseUrl,
    key: key.reveal(),
    fetch: (request) => (self === undefined ? fetch(request) : self.fetch(request)),
  });
}
