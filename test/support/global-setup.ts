import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { stopLeftoverPostgres } from '../../infra/local/leftover-postgres.ts';
import { NO_NATS_SERVER, natsServerBinary } from '../../infra/local/nats-server.ts';
import { startPostgres } from '../../infra/local/postgres.ts';
import { isAlive } from '../../infra/local/processes.ts';
import { migrate } from '../../infra/migrate.ts';
import { NO_CHROMIUM, chromiumBinary } from '../browser/support/chromium-binary.ts';
import { poolerBinary, startPooler, type Pooler } from './pooler.ts';

declare module 'vitest' {
  interface ProvidedContext {
    cluster: TestCluster;
    /** Before the cluster, where this machine has PgBouncer. */
    pooler: { readonly host: string; readonly port: number } | undefined;
    /** Set in the project whose operations go through the pooler. */
    pooled: boolean;
  }
}

/** How a test file reaches the Postgres of this run. */
export interface TestCluster {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  /** A migrated database that nobody connects to: each test file copies it. */
  readonly template: string;
}

const TEMPLATE = 'leasehold_template';
/** Followed by the process id of the run, so that the next run can tell what a killed one left. */
const PREFIX = 'leasehold-test-';

/** The data dies with the run, so nothing is ever flushed to disk. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '200',
  max_wal_size: '4GB',
  // Tests that read back what they logged do so beside others that log much.
  wal_keep_size: '4GB',
};

/** One Postgres for the whole run, with a migrated template database. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (natsServerBinary() === undefined) {
    process.stderr.write(`The tests on a broker are left out. ${NO_NATS_SERVER}\n`);
  }
  if (chromiumBinary() === undefined) {
    process.stderr.write(`The tests of the board in a browser are left out. ${NO_CHROMIUM}\n`);
  }
  await removeLeftovers();
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  chmodSync(folder, 0o755); // Postgres may run as another user
  const log: string[] = [];
  const postgres = await startPostgres({
    dataDir: folder,
    settings: SETTINGS,
    log: (line) => void log.push(line),
  });
  let pooler: Pooler | undefined;
  const teardown = async (): Promise<void> => {
    await pooler?.stop();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
    rmSync(postgres.cluster, { recursive: true, force: true });
  };
  try {
    const { host, port, user, password } = postgres;
    const url = `postgres://${user}:${password}@${host}:${port}`;
    await makeTemplate(url);
    project.provide('cluster', { host, port, user, password, template: TEMPLATE });
    const binary = poolerBinary();
    if (binary !== undefined) {
      pooler = await startPooler(binary, { host, port, user, password });
      project.provide('pooler', { host: '127.0.0.1', port: pooler.port });
    }
  } catch (error) {
    await teardown();
    throw error;
  }
  return teardown;
}

async function makeTemplate(url: string): Promise<void> {
  const admin = new pg.Client({ connectionString: `${url}/postgres` });
  await admin.connect();
  await admin.query(`create database ${TEMPLATE}`);
  await admin.end();
  await migrate({ connectionString: `${url}/${TEMPLATE}`, log: () => undefined });
}

/** A run that was killed had no chance to stop its Postgres. */
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
