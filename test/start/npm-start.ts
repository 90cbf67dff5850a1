import { spawn } from 'node:child_process';
import { plainEnvironment } from './checkout.ts';

/** `npm start` as a child process. */
export interface NpmStart {
  /** Everything printed so far. */
  readonly output: () => string;
  /** Resolves once the text was printed; rejects with the output when the process ends first. */
  until(text: string): Promise<void>;
  /** Sends a signal to the whole process group, as a terminal does for Ctrl-C. */
  signal(name: NodeJS.Signals): void;
  readonly exit: Promise<number | null>;
}

export function npmStart(
  path: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): NpmStart {
  const child = spawn('npm', ['start', '--', ...args], {
    cwd: path,
    env: { ...plainEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  let ended = false;
  const looks = new Set<() => void>();
  const changed = (): void => looks.forEach((look) => look());
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      changed();
    });
  }
  const exit = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      ended = true;
      changed();
      resolve(code);
    });
  });
  return {
    output: () => output,
    until: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (output.includes(text)) resolve();
          else if (ended) reject(new Error(`npm start ended before "${text}":\n${output}`));
          else return;
          looks.delete(look);
        };
        looks.add(look);
        look();
      }),
    signal: (name) => {
      if (child.pid !== undefined && !ended) process.kill(-child.pid, name);
    },
    exit,
  };
}
