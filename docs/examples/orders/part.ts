import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** One process of the example, which may be killed and started again. */
export interface Part {
  kill(): Promise<void>;
  start(): void;
}

/** @param print gets what it says, line by line */
export function createPart(
  file: string,
  env: Readonly<Record<string, string>>,
  print: (line: string) => void,
): Part {
  let running: ChildProcess | undefined;
  process.once('exit', () => void running?.kill('SIGKILL'));
  return {
    start: () => {
      const child = spawn(process.execPath, [fileURLToPath(new URL(file, import.meta.url))], {
        env: { ...process.env, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      for (const stream of [child.stdout, child.stderr]) {
        createInterface({ input: stream }).on('line', print);
      }
      running = child;
    },
    kill: async () => {
      const child = running;
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
