import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const FILE = fileURLToPath(new URL('./relay-process.ts', import.meta.url));

/** Relays at work, one of which is killed every so often and replaced at once. */
export interface KilledRelays {
  readonly kills: number;
  /** No more kills. */
  calm(): void;
  stop(): Promise<void>;
}

export function startRelays(options: {
  readonly relays: number;
  readonly killEveryMs: number;
  readonly maxKills: number;
  readonly args: readonly string[];
}): KilledRelays {
  const calm = new AbortController();
  let kills = 0;
  const start = (): ChildProcess =>
    fork(FILE, options.args, { execArgv: ['--experimental-strip-types', '--no-warnings'] });
  const running = Array.from({ length: options.relays }, start);
  const killing = (async () => {
    for (let turn = 0; turn < options.maxKills; turn += 1) {
      await pause(options.killEveryMs, undefined, { signal: calm.signal }).catch(() => undefined);
      const at = turn % running.length;
      const victim = running[at];
      if (calm.signal.aborted || victim === undefined) return;
      await kill(victim);
      kills += 1;
      running[at] = start();
    }
  })();
  return {
    get kills() {
      return kills;
    },
    calm: () => calm.abort(),
    stop: async () => {
      calm.abort();
      await killing;
      await Promise.all(running.map(kill));
    },
  };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
