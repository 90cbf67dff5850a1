import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { signingKey } from '../../../infra/local/secrets.ts';
import { localToken } from '../../../infra/local/token.ts';
import { startSqlEndpoint, type SqlEndpoint } from '../../../infra/local/sql-endpoint/endpoint.ts';
import { migrate } from '../../../infra/migrate.ts';
import { configureQueue } from '../../../shared/queue/configure-queue.ts';
import { SCOPES } from '../../../shared/scopes.ts';
import type { SeededRandom } from '../../simulation/world/random.ts';
import { createPgSql } from '../../support/pg-sql.ts';
import { poolerBinary, startPooler, type Pooler } from '../../support/pooler.ts';
import { KilledPostgres } from './killed-postgres.ts';
import { HANDLER_QUEUE, LEASE_SECONDS, PULL_QUEUE, PUSH_QUEUE, type Plan } from './plan.ts';
import { EffectReceiver } from './receiver.ts';
import { scaleRetention } from './scaled-retention.ts';
import { WorkerFleet } from './worker-fleet.ts';

const DATABASE = 'leasehold_chaos';
const SERVER_CONNECTIONS = 12;

/** Everything that runs: Postgres, PgBouncer before it, the endpoint before that, Workers, and a receiver of effects. */
export interface Stage {
  readonly postgres: KilledPostgres;
  readonly endpoint: SqlEndpoint;
  readonly fleet: WorkerFleet;
  readonly receiver: EffectReceiver;
  readonly token: string;
  /** Straight to Postgres, for checks and for the consumer. */
  readonly pool: pg.Pool;
  /** Through the pooler, for producers in SQL. */
  readonly pooled: pg.Pool;
  /** SIGKILL for PgBouncer, and a new one in its place; gives how often it happened. */
  killPooler(): Promise<number>;
  close(): Promise<void>;
}

/** @throws where this machine has no PgBouncer */
export async function setStage(plan: Plan, random: SeededRandom): Promise<Stage> {
  const binary = poolerBinary();
  if (binary === undefined)
    throw new Error('The chaos run needs PgBouncer: apt-get install pgbouncer.');
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-chaos-'));
  const postgres = await KilledPostgres.start(folder);
  const { host, port, user, password } = postgres.server;
  const direct = `postgres://${user}:${password}@${host}:${port}`;
  await createDatabase(direct);
  await migrate({ connectionString: `${direct}/${DATABASE}` });
  const pool = quietPool(`${direct}/${DATABASE}`, 16);
  await scaleRetention(pool);
  await pool.query(`
    create table orders (id uuid primary key);
    create table applied (at timestamptz not null default clock_timestamp(), place bigint generated always as identity,
      consumer text, event_id uuid, aggregate text, version bigint);
    create index applied_at on applied (at)`);

  const start = (): Promise<Pooler> =>
    startPooler(binary, postgres.server, {
      port: poolerPort,
      serverConnections: SERVER_CONNECTIONS,
    });
  let poolerPort = 0;
  let pooler = await startPooler(binary, postgres.server, {
    serverConnections: SERVER_CONNECTIONS,
  });
  poolerPort = pooler.port;
  let poolerKills = 0;
  const endpoint = await startSqlEndpoint({ upstream: { host: '127.0.0.1', port: poolerPort } });
  const pooled = quietPool(`postgres://${user}:-@127.0.0.1:${poolerPort}/${DATABASE}`, 4);

  const eventKey = signingKey();
  const receiver = await EffectReceiver.start({ pool, random: random.fork(), keys: [eventKey] });
  await configureQueues(pool, receiver);
  const authSecret = randomBytes(32).toString('base64url');
  const fleet = await WorkerFleet.start({
    folder: join(folder, 'worker'),
    workers: plan.workers,
    env: {
      DATABASE_URL: `postgres://${user}:-@127.0.0.1:${endpoint.port}/${DATABASE}`,
      AUTH_SECRET: authSecret,
      POKE_SECRETS: signingKey(),
      PUSH_SECRETS: signingKey(),
      PUSH_ALLOW_HTTP: 'on',
      PUSH_ALLOWED_HOSTS: `127.0.0.1:${receiver.port}`,
      OUTBOX_TARGET_URL: receiver.url('/events'),
      OUTBOX_SECRETS: eventKey,
      TIMED_WAKES: 'off',
      JOBS_PER_INVOCATION: '50',
    },
  });
  const token = await localToken(authSecret, { subject: 'chaos', scopes: SCOPES, days: 1 });
  return {
    postgres,
    endpoint,
    fleet,
    receiver,
    token,
    pool,
    pooled,
    killPooler: async () => {
      await pooler.stop();
      pooler = await start();
      return (poolerKills += 1);
    },
    close: async () => {
      await fleet.stop();
      await endpoint.close();
      await receiver.close();
      await pooled.end();
      await pooler.stop();
      await pool.end();
      await postgres.stop();
      rmSync(postgres.server.cluster, { recursive: true, force: true });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function createDatabase(server: string): Promise<void> {
  const admin = new pg.Client({ connectionString: `${server}/postgres` });
  await admin.connect();
  await admin.query(`create database ${DATABASE}`);
  await admin.end();
}

/** Connections die under it: whoever uses one then hears it, and nobody else. */
function quietPool(connectionString: string, max: number): pg.Pool {
  const pool = new pg.Pool({ connectionString, max, connectionTimeoutMillis: 10_000 });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => void client.on('error', () => undefined));
  return pool;
}

async function configureQueues(pool: pg.Pool, receiver: EffectReceiver): Promise<void> {
  const settings = {
    lease_seconds: LEASE_SECONDS,
    max_run_seconds: LEASE_SECONDS,
    max_attempts: 100,
    max_unknown_attempts: 100,
    backoff_base_ms: 100,
    backoff_cap_ms: 2000,
    // A minute stands for a day: see scaled-retention.ts.
    retention_days: 3,
  };
  const delivery = {
    [HANDLER_QUEUE]: {},
    [PUSH_QUEUE]: { delivery: 'push', target_url: receiver.url('/effects') },
    [PULL_QUEUE]: { delivery: 'pull' },
  } as const;
  for (const [queue, its] of Object.entries(delivery)) {
    await configureQueue(createPgSql(pool), {
      queue,
      settings: { ...settings, ...its },
      actor: 'chaos',
    });
  }
}
