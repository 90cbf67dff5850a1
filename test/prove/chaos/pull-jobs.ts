import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from '../../../shared/client/client.ts';
import { work } from '../../../shared/client/work.ts';
import type { SeededRandom } from '../../simulation/world/random.ts';
import { LEASE_SECONDS, PULL_QUEUE } from './plan.ts';
import type { EffectReceiver } from './receiver.ts';

/** Share of the jobs over which an agent falls asleep until its lease is gone. */
const ASLEEP_SHARE = 0.002;

/** Agents over HTTP, whichever Worker lives; one whose worker loop gives up begins another. */
export async function pullJobs(options: {
  readonly url: () => string;
  readonly token: string;
  readonly receiver: EffectReceiver;
  readonly random: SeededRandom;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { url, token, receiver, random, signal } = options;
  const client = createClient({
    baseUrl: 'http://leasehold.invalid',
    token,
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      return await fetch(new Request(`${url()}${pathname}${search}`, request));
    },
  });
  while (!signal.aborted) {
    try {
      await work(
        client,
        PULL_QUEUE,
        async (job) => {
          receiver.record(job.id);
          if (random.chance(ASLEEP_SHARE)) await pause((LEASE_SECONDS + 1) * 1000);
        },
        { signal, concurrency: 4, waitSeconds: 2, stepSeconds: 1, graceMs: 2000 },
      );
    } catch {
      await pause(500); // nobody answered for all its tries
    }
  }
}
