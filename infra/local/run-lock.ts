/** One `npm start` a checkout. The lock is a file that names its holder, so that a killed holder is recognised. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { commandLine } from './processes.ts';

interface Holder {
  readonly pid: number;
  /** Where the holder's API answers, once it does. */
  readonly url?: string;
  /** The holder's workerd, which outlives a holder that is killed. */
  readonly workerdPid?: number;
}

export interface RunLock {
  /** Records more about this run, for the next start. */
  note(facts: Omit<Holder, 'pid'>): void;
  release(): void;
}

export type LockOutcome =
  | { readonly outcome: 'taken'; readonly lock: RunLock; readonly cleanedUp: readonly string[] }
  | { readonly outcome: 'running'; readonly pid: number; readonly url: string | undefined };

/**
 * Takes the lock, or says who holds it. What a killed holder left running (workerd; Postgres is found by its own
 * files) is ended.
 *
 * @param marker text in the command line of every holder: tells it from a stranger who got the same process id.
 */
export function takeRunLock(file: string, marker: string): LockOutcome {
  const cleanedUp: string[] = [];
  for (;;) {
    const mine: Holder = { pid: process.pid };
    if (create(file, mine)) return { outcome: 'taken', lock: lockOn(file, mine), cleanedUp };
    const holder = read(file);
    if (holder && holder.pid !== process.pid && commandLine(holder.pid).includes(marker)) {
      return { outcome: 'running', pid: holder.pid, url: holder.url };
    }
    if (holder?.workerdPid !== undefined && endWorkerd(holder.workerdPid)) {
      cleanedUp.push(`workerd (process ${holder.workerdPid})`);
    }
    rmSync(file, { force: true });
  }
}

function lockOn(file: string, mine: Holder): RunLock {
  let facts = mine;
  return {
    note: (more) => {
      facts = { ...facts, ...more };
      writeFileSync(file, JSON.stringify(facts));
    },
    release: () => rmSync(file, { force: true }),
  };
}

function create(file: string, holder: Holder): boolean {
  try {
    writeFileSync(file, JSON.stringify(holder), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** `undefined` for a file that is gone or was cut short by a kill. */
function read(file: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Holder;
  } catch {
    return undefined;
  }
}

function endWorkerd(pid: number): boolean {
  if (!commandLine(pid).includes('workerd')) return false;
  process.kill(pid, 'SIGKILL');
  return true;
}
