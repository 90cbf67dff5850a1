import { waitAtMost } from '../../shared/bounded-wait.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import type { Poke } from '../../shared/ports.ts';
import { createApp } from '../app.ts';
import type { AppDeps } from '../deps.ts';
import { pokeRequest } from '../poker.ts';
import { tick } from '../scheduled/tick.ts';
import { BackgroundTasks } from './background-tasks.ts';
import type { Container } from './container.ts';

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
  readonly deps: AppDeps;
  /** Waits for what was put into the background, as long as the platform lets it. */
  backgroundDone(): Promise<void>;
}

/** @throws {LeaseholdError} `config_invalid` with all faults */
export async function beginInvocation(
  container: Container,
  context: LambdaContext,
): Promise<Invocation> {
  const kept = await container.deps();
  const background = new BackgroundTasks();
  return {
    deps: { ...kept, background, invocationMs: context.getRemainingTimeInMillis() },
    backgroundDone: async () => {
      const left = context.getRemainingTimeInMillis() - END_MARGIN_MS;
      const waited = await waitAtMost(kept.timer, left, () => background.done());
      if (waited.kind !== 'value') kept.log.warn('background_cut_off', { reason: waited.kind });
    },
  };
}

/**
 * The scheduled pass. It throws what went wrong, so that Lambda tries it again and in the end keeps the event for a person
 * to see: an answer that tells of an error would count as success.
 */
export async function runDrain({ deps, backgroundDone }: Invocation): Promise<void> {
  try {
    await tick(deps, AbortSignal.timeout(Math.max(0, deps.invocationMs - END_MARGIN_MS)));
  } finally {
    await backgroundDone();
  }
}

/**
 * Claims one job and runs it, through the same route as a poke over HTTP: what it leads to is decided in one place. Throws
 * what only a repeat can mend.
 */
export async function runPoke({ deps, backgroundDone }: Invocation, poke: Poke): Promise<void> {
  const [key] = deps.config.pokeSecrets;
  if (key === undefined) throw new LeaseholdError('config_invalid', 'POKE_SECRETS holds no key.');
  const { clock, ids, log, invocationMs } = deps;
  const request = pokeRequest(
    { baseUrl: INTERNAL_URL, key: key.reveal(), ids },
    poke,
    clock.now(),
    AbortSignal.timeout(invocationMs),
  );
  const response = await createApp(deps).fetch(request);
  await backgroundDone();
  const { status } = response;
  if (status >= 500) throw new Error(`The poke was answered ${status}.`);
  if (status >= 300) log.warn('poke_refused', { queue: poke.queue, status });
}
