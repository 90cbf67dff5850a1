/** A NATS server of this machine's, for tests and for the example: `nats-server`, as Debian packages it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { freePort } from './free-port.ts';

const READY = 'Server is ready';
const LOG_TAIL_CHARS = 4000;

export const NO_NATS_SERVER =
  'There is no nats-server on this machine. On Debian: apt-get install nats-server';

export interface NatsServer {
  /** For `connect` over TCP: `127.0.0.1:<port>`. */
  readonly address: string;
  /** For a connection over a WebSocket: `ws://127.0.0.1:<port>`. */
  readonly webSocketUrl: string;
  readonly pid: number;
  /** Lets it end in order. */
  stop(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Starts it again after its end: the same ports, the same streams. */
  restart(): Promise<void>;
}

export interface NatsServerOptions {
  /** For the streams and the configuration; made if it is missing. */
  readonly folder: string;
  /** Lines of its configuration, beside what is set here. */
  readonly configuration?: readonly string[];
}

/** The `nats-server` of this machine, or undefined when it has none. */
export function natsServerBinary(): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/bin'];
  return folders
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, 'nats-server'))
    .find((file) => existsSync(file));
}

/**
 * Starts a NATS server with JetStream on ports of its own, on the loopback interface. It ends with this process.
 *
 * @throws with the package to install when this machine has none, and with the server's own words when it does not start
 */
export async function startNatsServer({
  folder,
  configuration = [],
}: NatsServerOptions): Promise<NatsServer> {
  const binary = natsServerBinary();
  if (binary === undefined) throw new Error(NO_NATS_SERVER);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'nats.conf');
  const [port, webSocketPort] = [await freePort(), await freePort()];
  writeFileSync(
    file,
    [
      `listen: "127.0.0.1:${port}"`,
      `jetstream { store_dir: ${JSON.stringify(join(folder, 'streams'))} }`,
      `websocket { listen: "127.0.0.1:${webSocketPort}", no_tls: true }`,
      ...configuration,
      '',
    ].join('\n'),
  );
  let running = await launch(binary, file);
  const stopWithParent = (): void => void running.kill('SIGKILL');
  process.once('exit', stopWithParent);
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    if (running.exitCode !== null || running.signalCode !== null) return;
    const ended = once(running, 'exit');
    running.kill(signal);
    await ended;
  };
  return {
    address: `127.0.0.1:${port}`,
    webSocketUrl: `ws://127.0.0.1:${webSocketPort}`,
    get pid() {
      return running.pid ?? 0;
    },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    restart: async () => {
      running = await launch(binary, file);
    },
  };
}

async function launch(binary: string, file: string): Promise<ChildProcess> {
  const child = spawn(binary, ['--config', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let tail = '';
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      reject(new Error(`nats-server ended at start (${signal ?? code}):\n${tail}`)),
    );
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      tail = (tail + text).slice(-LOG_TAIL_CHARS);
      if (tail.includes(READY)) resolve();
    });
  });
  return child;
}
