import { MAX_POKE_DEPTH, OUTBOX_POKE_QUEUE, RELAY_LEASE_SECONDS } from '../../shared/limits.ts';
import type { AppDeps } from '../deps.ts';
import { askDrain } from '../wake/ask-drain.ts';
import { askWake } from '../wake/ask-wake.ts';
import { sendPoke } from '../wake/send-poke.ts';
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
  // Should this invocation be killed, its shards are free again by then.
  askWake(deps, [new Date(deps.clock.now() + RELAY_LEASE_SECONDS * 1000)]);
  const { batches, published, failed, quarantined, ended } = await relayPass(
    { ...deps, publisher },
    {
      invocationEndsAt: input.startedAt + deps.invocationMs,
      maxAttempts: config.outbox.maxAttempts,
    },
  );
  if (ended === 'time_up' && config.chainPokes) {
    if (input.depth < MAX_POKE_DEPTH) {
      pokeRelay(deps, input.depth + 1);
    } else {
      log.info('poke_chain_ended', { queue, depth: input.depth });
      askDrain(deps);
    }
  }
  // Only the database knows when what failed is due again.
  if (failed > 0 || ended === 'receiver_away') askDrain(deps);
  if (batches === 0) return { outcome: 'empty', queue };
  return { outcome: 'relayed', queue, published, failed, quarantined, ended };
}

/** After the commit of new events: a hint for the relay, in the background. */
export function pokeRelay(
  deps: Pick<AppDeps, 'background' | 'poker' | 'publisher' | 'wake' | 'clock' | 'timer' | 'log'>,
  depth = 0,
): void {
  if (deps.publisher === undefined) return;
  sendPoke(deps, { queue: OUTBOX_POKE_QUEUE, depth, relay: true });
}
