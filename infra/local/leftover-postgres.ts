import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { commandLine } from './processes.ts';

const STOP_POLL_MS = 50;
const STOP_ATTEMPTS = 200;

/**
 * Stops a Postgres that a killed parent left running on this cluster, so that a new one can start on the same files.
 *
 * @returns the process id of the one it stopped, or `undefined` when there was none.
 */
export async function stopLeftoverPostgres(cluster: string): Promise<number | undefined> {
  const file = join(cluster, 'postmaster.pid');
  if (!existsSync(file)) return undefined;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  // The number may belong to somebody else by now: only a process that names this cluster is ours.
  if (!Number.isInteger(pid) || pid <= 0 || !commandLine(pid).includes(cluster)) return undefined;
  try {
    process.kill(pid, 'SIGINT');
  } catch {
    return undefined; // it ended by itself meanwhile
  }
  for (let attempt = 0; attempt < STOP_ATTEMPTS; attempt += 1) {
    if (!commandLine(pid).includes(cluster)) return pid;
    await pause(STOP_POLL_MS);
  }
  throw new Error(
    `Postgres (process ${pid}) from an earlier run does not stop; end it and try again.`,
  );
}
