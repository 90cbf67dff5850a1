import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The top of the checkout. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Where one checkout keeps what `npm start` makes. */
export interface StateFolder {
  readonly path: string;
  /** Names the process that runs, and its children: a killed run is cleaned up from it. */
  readonly lock: string;
  readonly secrets: string;
  /** How `psql` connects, password and all, so that none is on a command line; mode 600. */
  readonly databaseService: string;
  readonly postgres: string;
  readonly postgresLog: string;
  readonly build: string;
  readonly workerLog: string;
}

/** Makes `.leasehold/` in the checkout. The user who runs Postgres has to get through it, so it is readable; secrets are not. */
export function openStateFolder(root: string = ROOT): StateFolder {
  const path = join(root, '.leasehold');
  mkdirSync(path, { recursive: true, mode: 0o755 });
  return {
    path,
    lock: join(path, 'running.json'),
    secrets: join(path, 'secrets.json'),
    databaseService: join(path, 'pg_service.conf'),
    postgres: join(path, 'postgres'),
    postgresLog: join(path, 'postgres.log'),
    build: join(path, 'build'),
    workerLog: join(path, 'worker.log'),
  };
}
