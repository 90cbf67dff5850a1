import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../infra/local/free-port.ts';

const BINARIES = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/opt/homebrew/bin/pgbouncer'];
/** Fewer than any test has clients, so that sessions really are shared. */
const SERVER_CONNECTIONS = 2;

export interface Pooler {
  readonly port: number;
  stop(): Promise<void>;
}

/** The PgBouncer of this machine, or undefined when it has none. */
export function poolerBinary(): string | undefined {
  return BINARIES.find((file) => existsSync(file));
}

/**
 * Starts PgBouncer before a Postgres the hard way: transaction mode, two server connections a database, no reset between
 * clients, no start-up parameter ignored.
 */
export async function startPooler(
  binary: string,
  upstream: { host: string; port: number; user: string; password: string },
  options: { readonly port?: number; readonly serverConnections?: number } = {},
): Promise<Pooler> {
  const { port = await freePort(), serverConnections = SERVER_CONNECTIONS } = options;
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-pooler-'));
  const file = join(folder, 'pgbouncer.ini');
  const { host, port: upstreamPort, user, password } = upstream;
  writeFileSync(
    file,
    [
      '[databases]',
      `* = host=${host} port=${upstreamPort} user=${user} password=${password}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      'pool_mode = transaction',
      `default_pool_size = ${serverConnections}`,
      'max_client_conn = 200',
      'server_reset_query =',
      // Its default leaves clients without a server for 15 s after one that did not answer.
      'server_login_retry = 0.2',
      'ignore_startup_parameters =',
      // It does not run as root.
      ...(process.getuid?.() === 0 ? ['user = nobody'] : []),
      '',
    ].join('\n'),
  );
  chmodSync(folder, 0o755);
  const child = spawn(binary, [file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let tail = '';
  child.stderr.on('data', (text: Buffer) => (tail = (tail + text.toString()).slice(-4000)));
  const exited = once(child, 'exit');
  const stopWithParent = (): void => void child.kill('SIGKILL');
  process.once('exit', stopWithParent);
  const listening = untilListening(port, () => child.exitCode === null);
  if (!(await listening)) throw new Error(`PgBouncer did not start:\n${tail}`);
  return {
    port,
    stop: async () => {
      process.off('exit', stopWithParent);
      child.kill('SIGKILL');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function untilListening(port: number, alive: () => boolean): Promise<boolean> {
  while (alive()) {
    const socket = net.connect(port, '127.0.0.1');
    const open = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (open) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}
