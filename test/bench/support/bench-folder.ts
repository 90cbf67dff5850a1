/** The folder of one run's cluster. It carries the process id, so that the next run can remove what a killed one left. */
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stopLeftoverPostgres } from '../../../infra/local/leftover-postgres.ts';
import { isAlive } from '../../../infra/local/processes.ts';

const PREFIX = 'leasehold-bench-';

export async function makeBenchFolder(): Promise<string> {
  await removeLeftovers();
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  chmodSync(folder, 0o755); // Postgres may run as another user
  return folder;
}

async function removeLeftovers(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    const owner = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length).split('-')[0]) : NaN;
    if (!Number.isInteger(owner) || isAlive(owner)) continue;
    const folder = join(tmpdir(), name);
    try {
      await stopLeftoverPostgres(join(folder, 'cluster'));
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // Another user's, or another run is at it: not worth failing for.
    }
  }
}
