import type { QueueSystem } from './systems/queue-system.ts';

const TICK_MS = 50;
/** The largest call that every system takes. */
const MOST_A_CALL = 1000;

export interface OfferedLoad {
  /** Jobs added so far. */
  readonly sent: number;
  /** Jobs that the rate asked for so far: more than `sent` when the system cannot take them in as fast. */
  readonly asked: number;
  /** Ends it; rejects when a call failed. */
  stop(): Promise<void>;
}

/**
 * Adds jobs at a fixed rate, whatever becomes of them: an open loop, the same for every system. A late call is made up by
 * a larger one.
 */
export function offer(system: Pick<QueueSystem, 'enqueue'>, jobsASecond: number): OfferedLoad {
  const begun = performance.now();
  const stopping = new AbortController();
  let sent = 0;
  const asked = (): number => Math.floor(((performance.now() - begun) / 1000) * jobsASecond);
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const count = Math.min(MOST_A_CALL, asked() - sent);
      if (count > 0) {
        await system.enqueue(count);
        sent += count;
      }
      if (count < MOST_A_CALL) await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    }
  };
  const running = run();
  running.catch(() => undefined); // told by stop()
  return {
    get sent() {
      return sent;
    },
    get asked() {
      return asked();
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
