import { MAX_POKE_DEPTH, POKE_LOST_MS } from '../../shared/limits.ts';
import type { Poke } from '../../shared/ports.ts';
import type { AppDeps } from '../deps.ts';
import type { WorkOutcome } from '../work-outcome.ts';
import { askDrain } from './ask-drain.ts';
import { askWake } from './ask-wake.ts';
import { sendPoke } from './send-poke.ts';

/**
 * What a poke leaves behind: the next poke of its chain, the instants at which its jobs are due again, or the wish for a
 * drain where only the database knows what comes next.
 *
 * Chains are bounded: platforms stop self-calls about 16 deep, and those behind a service binding share the budgets of the
 * first. At the bound the chain ends, and the drain that it asks for starts new ones with budgets of their own.
 */
export function afterWork(deps: AppDeps, poke: Poke, done: WorkOutcome): void {
  switch (done.outcome) {
    case 'no_handler':
    case 'push_not_configured':
      return;
    case 'empty':
    case 'no_time':
      // Whoever poked knew of work. A limit of the queue may hold it back: the database knows until when.
      if (poke.drain !== true) askDrain(deps);
      return;
    case 'ran':
      askWake(deps, done.dueAts);
      if (done.moreDue) goOn(deps, poke);
      else if (done.heldBack === true) askDrain(deps);
      // The next job of its key may be due later, by a delay of its own or the rate of the key: nothing else would say, the
      // rest of this chain neither, which need not meet the key again.
      if (done.keyed) askDrain(deps, done.moreDue ? POKE_LOST_MS : 0);
  }
}

function goOn(deps: AppDeps, { queue, depth }: Poke): void {
  if (deps.config.chainPokes && depth < MAX_POKE_DEPTH) {
    sendPoke(deps, { queue, depth: depth + 1 });
    return;
  }
  deps.log.info('poke_chain_ended', { queue, depth });
  askDrain(deps);
}
