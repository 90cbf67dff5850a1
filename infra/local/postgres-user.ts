import { execFileSync, spawnSync } from 'node:child_process';

/** The operating-system user that Postgres runs as. `undefined`: the user who runs this process. */
export interface PostgresUser {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Postgres refuses to run as root, so root runs it as an ordinary user: `postgres` when there is one, else a fresh
 * `postgres` without a home, else `nobody`, who exists everywhere.
 *
 * @returns `undefined` when this process is not root.
 */
export function postgresUser(): PostgresUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const present = lookUp('postgres');
  if (present) return present;
  spawnSync('useradd', ['--system', '--no-create-home', '--user-group', 'postgres']);
  const user = lookUp('postgres') ?? lookUp('nobody');
  if (!user)
    throw new Error('Postgres cannot run as root, and there is no user "postgres" or "nobody".');
  return user;
}

function lookUp(name: string): PostgresUser | undefined {
  const uid = idOf('-u', name);
  const gid = idOf('-g', name);
  return uid === undefined || gid === undefined ? undefined : { uid, gid };
}

function idOf(flag: '-u' | '-g', name: string): number | undefined {
  try {
    const text = execFileSync('id', [flag, name], { stdio: ['ignore', 'pipe', 'ignore'] });
    return Number(text.toString());
  } catch {
    return undefined;
  }
}

/** Whether `user` can enter the folder `path`: every folder above it has to let them through. */
export function canEnter(user: PostgresUser | undefined, path: string): boolean {
  const attempt = spawnSync('/bin/sh', ['-c', 'cd "$1" && test -r .', 'sh', path], {
    cwd: '/',
    stdio: 'ignore',
    ...user,
  });
  return attempt.status === 0;
}
