import { chmodSync, existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startPostgres, type Postgres } from '../../infra/local/postgres.ts';
import { isAlive } from '../../infra/local/processes.ts';

describe('the built-in Postgres', { timeout: 60_000 }, () => {
  let folder: string;
  let clusters: Set<string>;

  beforeEach(() => {
    clusters = new Set();
    folder = mkdtempSync(join(realpathSync(tmpdir()), 'leasehold pg '));
  });

  afterEach(() => {
    for (const cluster of clusters) rmSync(cluster, { recursive: true, force: true });
    rmSync(folder, { recursive: true, force: true });
  });

  test('keeps its data and its password over a restart', async () => {
    chmodSync(folder, 0o755);
    const first = await start();
    await query(first, 'create table kept as select 7 as seven');
    await first.stop();
    const second = await start();
    expect(second.password).toBe(first.password);
    expect(second.cluster).toBe(join(folder, 'data', 'cluster'));
    expect(await query(second, 'select seven from kept')).toEqual([{ seven: 7 }]);
    await second.stop();
  });

  test('runs from a folder that only its owner may enter', async () => {
    chmodSync(folder, 0o700);
    const postgres = await start();
    expect(await query(postgres, 'select 1 as one')).toEqual([{ one: 1 }]);
    await postgres.stop();
    expect(existsSync(join(postgres.cluster, 'PG_VERSION'))).toBe(true);
  });

  test('takes over a cluster whose server was left by a killed parent', async () => {
    chmodSync(folder, 0o755);
    const left = await start();
    await query(left, 'create table kept as select 7 as seven');
    const next = await start(); // `left` is stopped by this, as if nobody knew it any more
    await left.ended;
    expect(isAlive(left.pid)).toBe(false);
    expect(await query(next, 'select seven from kept')).toEqual([{ seven: 7 }]);
    await next.stop();
  });

  test('begins anew when its folder was deleted, and keeps what the old one held', async () => {
    chmodSync(folder, 0o755);
    const first = await start();
    await first.stop();
    rmSync(join(folder, 'data', 'password'));
    const second = await start();
    expect(second.password).not.toBe(first.password);
    await second.stop();
    expect(existsSync(join(`${second.cluster}.abandoned`, 'PG_VERSION'))).toBe(true);
  });

  async function start(): Promise<Postgres> {
    const postgres = await startPostgres({ dataDir: join(folder, 'data') });
    clusters.add(postgres.cluster);
    return postgres;
  }

  test('says why it does not start', async () => {
    chmodSync(folder, 0o755);
    const postgres = await start();
    await postgres.stop();
    const wrong = startPostgres({
      dataDir: join(folder, 'data'),
      settings: { no_such_setting: 'on' },
    });
    await expect(wrong).rejects.toThrow('no_such_setting');
  });
});

async function query(postgres: Postgres, text: string): Promise<unknown[]> {
  const { host, port, user, password } = postgres;
  const client = new pg.Client({ host, port, user, password, database: 'postgres' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(text);
    return rows;
  } finally {
    await client.end();
  }
}
