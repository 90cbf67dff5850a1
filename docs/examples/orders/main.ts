/**
 * `npm run example:orders`: an orders service, the outbox, a relay, a NATS broker and an inventory service, each a process of
 * its own. Each part is killed once while they work; at the end every order has its stock, once. See README.md beside this.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startNatsServer, type NatsServer } from '../../../infra/local/nats-server.ts';
import { startPostgres, type Postgres } from '../../../infra/local/postgres.ts';
import { createShutdown } from '../../../infra/local/shutdown.ts';
import { startSqlEndpoint } from '../../../infra/local/sql-endpoint/endpoint.ts';
import { migrate } from '../../../infra/migrate.ts';
import { createPart } from './part.ts';
import { createStream, PREFIX, STREAM } from './streams.ts';
import { createTables } from './tables.ts';
import { tally, type Tally } from './tally.ts';

const KILL_EVERY_MS = 2500;
const DOWN_MS = 1000;
const LOOK_EVERY_MS = 500;
const GIVE_UP_AFTER_MS = 180_000;

const { values: options } = parseArgs({
  options: {
    orders: { type: 'string', default: '60' },
    'no-kills': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (options.help) {
  console.log('npm run example:orders -- [--orders <number>] [--no-kills]');
  process.exit();
}
const orders = Number(options.orders);
const shutdown = createShutdown((name, error) => say('example', `${name}: ${String(error)}`));
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void shutdown.run().then(() => process.exit(130)));
}

try {
  process.exitCode = (await run()) ? 0 : 1;
} catch (error) {
  say('example', error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  await shutdown.run();
}

async function run(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-orders-'));
  shutdown.add('folder', () => rmSync(folder, { recursive: true, force: true }));
  say('example', 'starting Postgres and NATS');
  const broker = await startNatsServer({ folder: join(folder, 'nats') });
  shutdown.add('broker', () => broker.stop());
  const dataDir = join(folder, 'postgres');
  let postgres = await startPostgres({ dataDir });
  shutdown.add('database', async () => {
    await postgres.stop();
    rmSync(postgres.cluster, { recursive: true, force: true });
  });
  const url = await makeDatabase(postgres);
  const endpoint = await startSqlEndpoint({ upstream: postgres });
  shutdown.add('endpoint', () => endpoint.close());
  await createStream(broker.address);

  const sqlUrl = new URL(url);
  sqlUrl.port = String(endpoint.port);
  const env = {
    DATABASE_URL: url,
    SQL_URL: sqlUrl.href,
    NATS_ADDRESS: broker.address,
    NATS_PREFIX: PREFIX,
    NATS_STREAM: STREAM,
    EXAMPLE_ORDERS: String(orders),
  };
  const parts = Object.fromEntries(
    ['inventory', 'relay', 'orders'].map((name) => {
      const part = createPart(`./${name}.ts`, env, (line) => say(name, line));
      shutdown.add(name, () => part.kill());
      part.start();
      return [name, part];
    }),
  );
  const ending = new AbortController();
  shutdown.add('kills', () => ending.abort());
  const killing = options['no-kills']
    ? Promise.resolve()
    : killEachOnce(
        {
          ...Object.fromEntries(
            Object.entries(parts).map(([name, part]) => [
              name,
              { kill: () => part.kill(), restart: async () => part.start() },
            ]),
          ),
          broker,
          database: {
            kill: () => crash(postgres),
            restart: async () => {
              postgres = await startPostgres({ dataDir, port: postgres.port });
            },
          },
        },
        ending.signal,
      );
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  pool.on('error', () => undefined); // the database is killed too
  shutdown.add('pool', () => pool.end());
  const [end] = await Promise.all([untilDone(pool), killing]);
  return end;
}

async function makeDatabase({ host, port, user, password }: Postgres): Promise<string> {
  const url = `postgres://${user}:${password}@${host}:${port}/postgres`;
  await migrate({ connectionString: url, log: () => undefined });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await createTables(client);
  await client.end();
  return url;
}

type Killable = Pick<NatsServer, 'kill' | 'restart'>;

async function killEachOnce(
  parts: Readonly<Record<string, Killable>>,
  signal: AbortSignal,
): Promise<void> {
  for (const name of ['relay', 'inventory', 'broker', 'orders', 'database']) {
    await pause(KILL_EVERY_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    say('example', `>>> killing ${name}`);
    await parts[name]?.kill();
    await pause(DOWN_MS);
    if (signal.aborted) return;
    await parts[name]?.restart();
    say('example', `>>> ${name} is started again`);
  }
}

/** What a power cut does: no transaction is ended in order, and the next start recovers from the log. */
async function crash(postgres: Postgres): Promise<void> {
  process.kill(postgres.pid, 'SIGQUIT');
  await postgres.ended;
}

async function untilDone(pool: pg.Pool): Promise<boolean> {
  const giveUpAt = Date.now() + GIVE_UP_AFTER_MS;
  let seen: Tally | undefined;
  while (Date.now() < giveUpAt) {
    await pause(LOOK_EVERY_MS);
    seen = await tally(pool).catch(() => seen);
    if (seen !== undefined && isDone(seen)) break;
  }
  const right = seen !== undefined && isDone(seen) && seen.stockIsRight;
  if (seen !== undefined) {
    say('example', `${seen.orders} orders, ${seen.events} events, ${seen.published} published`);
    say('example', `${seen.applied} applied, ${seen.duplicates} came again and had no effect`);
  }
  say('example', right ? 'every order has its stock, once' : 'SOMETHING IS MISSING');
  return right;
}

function isDone(seen: Tally): boolean {
  const expected = orders + Math.floor(orders / 2);
  return (
    seen.orders === orders &&
    seen.events === expected &&
    seen.published === expected &&
    seen.applied === expected &&
    seen.wrong === 0
  );
}

function say(who: string, line: string): void {
  console.log(`${who.padEnd(10)} ${line}`);
}
