import { waitAtMost } from '../shared/bounded-wait.ts';
import { POKE_TIMEOUT_MS } from '../shared/limits.ts';
import type { Clock, Ids, Log, Poke, Poker, Timer } from '../shared/ports.ts';
import { signWebhook } from '../shared/webhook.ts';

export interface PokerOptions {
  /** Origin of the worker, such as `https://jobs.example.com`; behind a service binding any host will do. */
  readonly baseUrl: URL;
  /** The signing key, `whsec_…`. */
  readonly key: string;
  /** `fetch` of the platform, or of a service binding. */
  readonly fetch: (request: Request) => Promise<Response>;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly ids: Ids;
  readonly log: Log;
}

/**
 * Sends pokes to `POST /v1/work`, signed per Standard Webhooks. It waits for the answer, because on Workers the
 * one that is called ends with the one that calls; but nothing depends on it: a lost poke is found by the drain.
 */
export function createPoker(options: PokerOptions): Poker {
  const { clock, timer, log } = options;
  return {
    async send(poke) {
      const outcome = await waitAtMost(timer, POKE_TIMEOUT_MS, async (signal) => {
        const response = await options.fetch(pokeRequest(options, poke, clock.now(), signal));
        await response.body?.cancel(); // an unread body holds one of six connections
        return response.status;
      });
      const fields = { queue: poke.queue, depth: poke.depth };
      if (outcome.kind !== 'value') log.warn('poke_failed', { ...fields, reason: outcome.kind });
      else if (outcome.value >= 300) {
        log.warn('poke_failed', { ...fields, reason: 'status', status: outcome.value });
      }
    },
  };
}

/** For a deployment with no way to poke: everything waits for whoever calls `POST /v1/work`. */
export function createNoPoker(log: Log): Poker {
  return {
    send: async ({ queue }) => {
      log.warn('poke_not_configured', { queue });
    },
  };
}

function pokeRequest(
  { baseUrl, key, ids }: PokerOptions,
  poke: Poke,
  nowMs: number,
  signal: AbortSignal,
): Request {
  const body = JSON.stringify(poke);
  return new Request(new URL('/v1/work', baseUrl), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...signWebhook(key, { id: `poke_${ids.uuidv7()}`, body, nowMs }),
    },
    body,
    redirect: 'manual',
    signal,
  });
}
