import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { WorkerBuild } from '../../../infra/local/build-worker.ts';
import { startPostgres } from '../../../infra/local/postgres.ts';
import { signingKey } from '../../../infra/local/secrets.ts';
import { localToken } from '../../../infra/local/token.ts';
import { configureQueue } from '../../../shared/queue/configure-queue.ts';
import { createPgSql } from '../../support/pg-sql.ts';
import { Fleet } from './fleet.ts';
import { unpackPreviousRelease, type PreviousRelease } from './previous-release.ts';
import { HANDLER_QUEUE, HARD_QUEUE, PULL_QUEUE, PUSH_QUEUE, SQL_QUEUE } from './produce.ts';
import { Receiver } from './receiver.ts';
import { ServerErrors } from './server-errors.ts';

const DATABASE = 'leasehold_upgrade';
const WORKERS = 2;

/** A Postgres that tells all its errors, the old schema in it, and what it takes to run Workers of both releases on it. */
export interface Stage {
  readonly release: PreviousRelease;
  readonly pool: pg.Pool;
  /** For migrators: a direct connection that goes by its name. */
  readonly migratorUrl: string;
  readonly errors: ServerErrors;
  readonly receiver: Receiver;
  readonly token: string;
  /** Starts Workers of a release; they end with the stage, if not before. */
  startFleet(build: WorkerBuild): Promise<Fleet>;
  close(): Promise<void>;
}

export async function setStage(): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-upgrade-'));
  const errors = new ServerErrors();
  const postgres = await startPostgres({
    dataDir: folder,
    settings: { max_connections: '90', max_wal_size: '2GB', log_line_prefix: '%e ' },
    log: (line) => errors.note(line),
  });
  const { host, port, user, password } = postgres;
  const server = `postgres://${user}:${password}@${host}:${port}`;
  const release = await unpackPreviousRelease();
  const admin = new pg.Client({ connectionString: `${server}/postgres` });
  await admin.connect();
  await admin.query(`create database ${DATABASE}`);
  await admin.end();
  await release.migrate({ connectionString: `${server}/${DATABASE}` });
  const pool = new pg.Pool({ connectionString: `${server}/${DATABASE}`, max: 24 });
  pool.on('error', () => undefined); // an idle connection that the stopping server cut

  const eventKey = signingKey();
  const receiver = await Receiver.start({ pool, keys: [eventKey], library: release.library });
  await configureQueues(pool, receiver);
  const authSecret = randomBytes(32).toString('base64url');
  const env = {
    AUTH_SECRET: authSecret,
    POKE_SECRETS: signingKey(),
    PUSH_SECRETS: signingKey(),
    PUSH_ALLOW_HTTP: 'on',
    PUSH_ALLOWED_HOSTS: `127.0.0.1:${receiver.port}`,
    OUTBOX_TARGET_URL: receiver.url('/events'),
    OUTBOX_SECRETS: eventKey,
    TIMED_WAKES: 'off',
    JOBS_PER_INVOCATION: '10',
  };
  const fleets: Fleet[] = [];
  return {
    release,
    pool,
    migratorUrl: `${server}/${DATABASE}?application_name=migrator`,
    errors,
    receiver,
    token: await localToken(authSecret, {
      subject: 'upgrade',
      scopes: ['enqueue', 'work', 'operate', 'read'],
      days: 1,
    }),
    startFleet: async (build) => {
      const fleet = await Fleet.start({
        build,
        workers: WORKERS,
        upstream: { host, port },
        env,
        databaseUrl: (at) => `postgres://${user}:${password}@127.0.0.1:${at}/${DATABASE}`,
      });
      fleets.push(fleet);
      return fleet;
    },
    close: async () => {
      for (const fleet of fleets) await fleet.stop();
      await receiver.close();
      await pool.end();
      await postgres.stop();
      release.remove();
      rmSync(postgres.cluster, { recursive: true, force: true });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function configureQueues(pool: pg.Pool, receiver: Receiver): Promise<void> {
  const settings = { lease_seconds: 30, backoff_base_ms: 100, backoff_cap_ms: 1000 };
  const delivery = {
    [HANDLER_QUEUE]: {},
    [PUSH_QUEUE]: { delivery: 'push', target_url: receiver.url('/effects') },
    [PULL_QUEUE]: { delivery: 'pull' },
    [HARD_QUEUE]: { delivery: 'pull' },
    [SQL_QUEUE]: { delivery: 'pull' },
  } as const;
  for (const [queue, its] of Object.entries(delivery)) {
    await configureQueue(createPgSql(pool), {
      queue,
      settings: { ...settings, ...its },
      actor: 'upgrade',
    });
  }
}
