import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** The command line of a living process with spaces between its words, or `''` when there is no such process. */
export function commandLine(pid: number): string {
  if (existsSync('/proc/self/cmdline')) {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    } catch {
      return '';
    }
  }
  return ps(['-o', 'command=', '-p', String(pid)]).trim();
}

/** Whether a process with this id lives (a zombie, which has no command line, does not count). */
export function isAlive(pid: number): boolean {
  return commandLine(pid) !== '';
}

/** Ids of the living children of a process, all of them or those whose command line holds `text`. */
export function childrenOf(parent: number, text = ''): number[] {
  return parents()
    .filter(([pid, itsParent]) => itsParent === parent && isAlive(pid))
    .map(([pid]) => pid)
    .filter((pid) => commandLine(pid).includes(text));
}

/** Process id and parent's id of every process. */
function parents(): [pid: number, parent: number][] {
  if (existsSync('/proc/self/stat')) {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), parentOf(name)]);
  }
  return ps(['-axo', 'pid=,ppid='])
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([pid = 0, parent = 0]) => [pid, parent]);
}

function parentOf(pid: string): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold spaces; the state and the parent's id come after it.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return 0;
  }
}

function ps(args: readonly string[]): string {
  return spawnSync('ps', args, { encoding: 'utf8' }).stdout ?? '';
}

/** Ids of the living processes whose command line holds `text`. */
export function processesWith(text: string): number[] {
  return parents()
    .map(([pid]) => pid)
    .filter((pid) => pid !== process.pid && commandLine(pid).includes(text));
}
