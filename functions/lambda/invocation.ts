import { waitAtMost } from '../../shared/bounded-wait.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import { MAX_UNWATCHED_STREAM_MS } from '../../shared/limits.ts';
import type { Poke, Poker } from '../../shared/ports.ts';
import { createApp } from '../app.ts';
import type { AppDeps } from '../deps.ts';
import { createPacedFeed } from '../feed/hub-over.ts';
import { createSingleBatchFeed } from '../feed/single-batch-feed.ts';
import { heardBy } from '../metrics/heard-changes.ts';
import { pokeRequest } from '../poker.ts';
import { tick } from '../scheduled/tick.ts';
import { sendPoke } from '../wake/send-poke.ts';
import { BackgroundTasks } from './background-tasks.ts';
import type { Container, ContainerDeps } from './container.ts';

/** What the runtime tells of an invocation. */
export interface LambdaContext {
  getRemainingTimeInMillis(): number;
}

/** Kept free at the end of an invocation, so that it ends by itself and not by the platform. */
const END_MARGIN_MS = 1000;
/** Nobody resolves it: a poke that came as an event is served in the process. */
const INTERNAL_URL = new URL('https://leasehold.internal');

/** One event from its coming to the last task that it started. */
export interface Invocation {
  readonly kept: ContainerDeps;
  /** As of now: what is left of the invocation shrinks. */
  deps(): AppDeps;
  /** Waits for what was put into the background, as long as the platform lets it. */
  backgroundDone(): Promise<void>;
}

/**
 * @param streams whether the answer goes out while it is made
 * @throws {LeaseholdError} `config_invalid` with all faults
 */
export async function beginInvocation(
  container: Container,
  context: LambdaContext,
  streams = false,
): Promise<Invocation> {
  const kept = await container.deps();
  const background = new BackgroundTasks();
  return {
    kept,
    deps: () => {
      const invocationMs = context.getRemainingTimeInMillis();
      const feed = streams
        ? createPacedFeed(kept, { maxStreamMs: streamMs(invocationMs) })
        : createSingleBatchFeed(kept);
      return { ...kept, background, feed: heardBy(kept.metrics, feed), invocationMs };
    },
    backgroundDone: async () => {
      const left = context.getRemainingTimeInMillis() - END_MARGIN_MS;
      const waited = await waitAtMost(kept.timer, left, () => background.done());
      if (waited.kind !== 'value') kept.log.warn('background_cut_off', { reason: waited.kind });
    },
  };
}

/** Nobody tells a function that its reader has gone, and it is paid for to its end. */
function streamMs(invocationMs: number): number {
  return Math.max(0, Math.min(invocationMs - 2 * END_MARGIN_MS, MAX_UNWATCHED_STREAM_MS));
}

/**
 * The scheduled pass. It throws what went wrong, so that Lambda tries it again and in the end keeps the event for a person
 * to see: an answer that tells of an error would count as success.
 */
export async function runDrain(invocation: Invocation): Promise<void> {
  const deps = invocation.deps();
  try {
    await tick(deps, AbortSignal.timeout(Math.max(0, deps.invocationMs - END_MARGIN_MS)));
  } finally {
    await invocation.backgroundDone();
  }
}

/**
 * Claims one job and runs it, through the same route as a poke over HTTP: what it leads to is decided in one place. Where
 * that is another poke of the queue, the worker may serve it itself, early in its invocation.
 *
 * @throws what only a repeat can mend
 */
export async function runPoke(invocation: Invocation, poke: Poke): Promise<void> {
  const { clock, poker, takesMoreMs } = invocation.kept;
  const startedAt = clock.now();
  let next: Poke | undefined = poke;
  while (next !== undefined) {
    const chained: ChainedPoke = new ChainedPoke(poker, next);
    const leftMs = takesMoreMs - (clock.now() - startedAt);
    try {
      await runOnce({ ...invocation.deps(), poker: chained, takesMoreMs: leftMs }, next);
    } finally {
      await invocation.backgroundDone();
    }
    const takesMore = clock.now() - startedAt < takesMoreMs;
    if (chained.poke !== undefined && !takesMore) {
      // As if it had not been kept: one that fails leaves its work to a drain.
      sendPoke(invocation.deps(), chained.poke);
      await invocation.backgroundDone();
    }
    // Served here, it is no deeper than the one that came.
    next =
      chained.poke !== undefined && takesMore ? { ...chained.poke, depth: poke.depth } : undefined;
  }
}

/** Keeps the poke that continues a chain instead of sending it; sends every other. */
class ChainedPoke implements Poker {
  readonly #poker: Poker;
  readonly #served: Poke;
  poke: Poke | undefined;

  constructor(poker: Poker, served: Poke) {
    this.#poker = poker;
    this.#served = served;
  }

  async send(poke: Poke): ReturnType<Poker['send']> {
    if (poke.queue !== this.#served.queue || this.poke !== undefined) {
      return await this.#poker.send(poke);
    }
    this.poke = poke;
    return 'sent';
  }
}

async function runOnce(deps: AppDeps, poke: Poke): Promise<void> {
  const { clock, config, ids, invocationMs, log } = deps;
  const [key] = config.pokeSecrets;
  if (key === undefined) throw new LeaseholdError('config_invalid', 'POKE_SECRETS holds no key.');
  const request = pokeRequest(
    { baseUrl: INTERNAL_URL, key: key.reveal(), ids },
    poke,
    clock.now(),
    AbortSignal.timeout(invocationMs),
  );
  const { status } = await createApp(deps).fetch(request);
  if (status >= 500) throw new Error(`The poke was answered ${status}.`);
  if (status >= 300) log.warn('poke_refused', { queue: poke.queue, status });
}
