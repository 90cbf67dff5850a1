import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** The command line of a living process with spaces between its words, or `''` when there is no such process. */
export function commandLine(pid: number): string {
  if (existsSync('/proc/self/cmdline')) {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    } catch {
      return '';
    }
  }
  return (
    spawnSync('ps', ['-o', 'command=', '-p', String(pid)])
      .stdout?.toString()
      .trim() ?? ''
  );
}

/** Whether a process with this id lives (a zombie, which has no command line, does not count). */
export function isAlive(pid: number): boolean {
  return commandLine(pid) !== '';
}
