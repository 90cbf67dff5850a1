import { MAX_POKE_DEPTH, OUTBOX_POKE_QUEUE } from '../../shared/limits.ts';
import type { AppDeps } from '../deps.ts';
import { relayPass } from './relay-pass.ts';

/** What a poke for the outbox is answered with. */
export interface RelayAnswer {
  /** `no_publisher`: this deployment publishes nothing. */
  readonly outcome: 'relayed' | 'empty' | 'no_publisher';
  readonly queue: string;
  readonly published?: number;
  readonly failed?: number;
  readonly quarantined?: number;
  readonly ended?: string;
}

/**
 * What a poke for the outbox does: one bounded pass of the relay, and a poke on when its time was up before the events were.
 * A hint: the relay of the next tick finds whatever is left.
 */
export async function relayPoked(
  deps: AppDeps,
  input: { readonly depth: number; readonly startedAt: number },
): Promise<RelayAnswer> {
  const { publisher, config, log } = deps;
  const queue = OUTBOX_POKE_QUEUE;
  if (publisher === undefined) return { outcome: 'no_publisher', queue };
  const { batches, published, failed, quarantined, ended } = await relayPass(
    { ...deps, publisher },
    {
      invocationEndsAt: input.startedAt + deps.invocationMs,
      maxAttempts: config.outbox.maxAttempts,
    },
  );
  if (ended === 'time_up' && config.chainPokes) {
    if (input.depth >= MAX_POKE_DEPTH) log.info('poke_chain_ended', { queue, depth: input.depth });
    else pokeRelay(deps, input.depth + 1);
  }
  if (batches === 0) return { outcome: 'empty', queue };
  return { outcome: 'relayed', queue, published, failed, quarantined, ended };
}

/** After the commit of new events: a hint for the relay, in the background. */
export function pokeRelay(
  { background, poker, publisher }: Pick<AppDeps, 'background' | 'poker' | 'publisher'>,
  depth = 0,
): void {
  if (publisher === undefined) return;
  background.run(() => poker.send({ queue: OUTBOX_POKE_QUEUE, depth, relay: true }));
}
