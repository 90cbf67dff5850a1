import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { migrate } from '../../infra/migrate.ts';

const SCRIPT = fileURLToPath(new URL('../../infra/migrate.ts', import.meta.url));
const { host, port, user, password, template } = inject('cluster');
const server = `postgres://${user}:${password}@${host}:${port}`;

let admin: pg.Client;
let url: string;
let name: string;
let serial = 0;
beforeAll(async () => {
  admin = new pg.Client({ connectionString: `${server}/postgres` });
  await admin.connect();
});
afterAll(() => admin.end());
beforeEach(async () => {
  serial += 1;
  name = `migrate_${process.pid}_${serial}`;
  await admin.query(`create database ${name}`);
  url = `${server}/${name}`;
});
afterEach(() => admin.query(`drop database if exists ${name} with (force)`));

/** Runs the real command in a process of its own. */
async function migrator(
  label: string,
  databaseUrl = url,
): Promise<{ exit: number | string; output: string }> {
  const child = spawn(process.execPath, [SCRIPT], {
    env: { ...process.env, DATABASE_URL: databaseUrl, PGAPPNAME: label },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.set(label, child.pid ?? 0);
  let output = '';
  child.stdout.on('data', (text: Buffer) => (output += text.toString()));
  child.stderr.on('data', (text: Buffer) => (output += text.toString()));
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  return { exit: code ?? signal ?? 'unknown', output };
}
const running = new Map<string, number>();

async function query(connectionString: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Tables with their columns, indexes, constraints and routines, as text to compare. */
const SHAPE = `
  select coalesce(string_agg(line, E'\\n' order by line), '') as shape from (
    select format('%s.%s %s %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull) as line
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = to_regnamespace('leasehold') and a.attnum > 0 and c.relkind in ('r', 'p', 'i', 'I', 'S')
    union all
    select format('%s %s', conname, pg_get_constraintdef(oid)) from pg_constraint
    where connamespace = to_regnamespace('leasehold')
    union all
    select md5(pg_get_functiondef(oid)) || proname from pg_proc where pronamespace = to_regnamespace('leasehold')
  ) lines`;

const shape = async (connectionString: string): Promise<unknown> =>
  (await query(connectionString, SHAPE))[0]?.['shape'];

describe('npm run migrate', () => {
  test('case R24 ten migrators on an empty database, one killed midway: one result, the others exit clean', async () => {
    const labels = Array.from({ length: 10 }, (_, i) => `migrator-${i}`);
    const runs = labels.map((label) => migrator(label));
    // Kill whichever holds the lock while it works: the others wait for the lock, it does not.
    let victim: string | undefined;
    while (victim === undefined) {
      const { rows } = await admin.query<{ label: string }>(
        `select a.application_name as label from pg_stat_activity a join pg_locks l on l.pid = a.pid
         where a.datname = $1 and a.application_name like 'migrator-%' and l.locktype = 'advisory' and l.granted`,
        [name],
      );
      victim = rows[0]?.label;
    }
    process.kill(running.get(victim) ?? 0, 'SIGKILL');
    const results = await Promise.all(runs);
    const exits = results.map(({ exit }) => exit);
    expect(exits).toEqual(labels.map((label) => (label === victim ? 'SIGKILL' : 0)));
    expect(await shape(url)).toBe(await shape(`${server}/${template}`));
    const applied = await query(url, 'select name from leasehold.migrations order by name');
    expect(applied).toEqual(
      await query(`${server}/${template}`, 'select name from leasehold.migrations order by name'),
    );

    const before = await shape(url);
    const rerun = await migrator('rerun');
    expect(rerun).toMatchObject({ exit: 0 });
    expect(rerun.output).toContain('applied 0 migration(s)');
    expect(await shape(url)).toBe(before);
  }, 120_000);

  test('a routine changed by hand is put back by the next run', async () => {
    await migrate({ connectionString: url });
    const before = await shape(url);
    await query(
      url,
      `create or replace function leasehold.iso(p_at timestamptz) returns text language sql stable return 'broken'`,
    );
    expect(await shape(url)).not.toBe(before);
    await migrate({ connectionString: url });
    expect(await shape(url)).toBe(before);
  });

  test('data survives a second run', async () => {
    await migrate({ connectionString: url });
    await query(url, `select leasehold.enqueue(leasehold.new_job_id(), 'kept', 't', '1')`);
    await migrate({ connectionString: url });
    expect(await query(url, 'select queue from leasehold.jobs')).toEqual([{ queue: 'kept' }]);
  });

  test('old code leaves a newer schema alone and says what to do', async () => {
    await migrate({ connectionString: url });
    await query(
      url,
      `insert into leasehold.migrations (name, run_on) values ('9999_from_the_future', now())`,
    );
    await query(
      url,
      `create or replace function leasehold.iso(p_at timestamptz) returns text language sql stable return 'newer'`,
    );
    const refused = await migrator('old-code');
    expect(refused.exit).toBe(1);
    expect(refused.output).toContain('newer than this code: it has 9999_from_the_future');
    expect(await query(url, 'select leasehold.iso(now()) as iso')).toEqual([{ iso: 'newer' }]);
  });

  test('a wrong address, a wrong password and no address at all are said plainly, without the password', async () => {
    const secret = 'not-the-password';
    const wrong = await migrator('wrong-password', url.replace(password, secret));
    expect(wrong.exit).toBe(1);
    expect(wrong.output).toMatch(/Migration failed: password authentication failed/);
    const nowhere = await migrator('nowhere', `postgres://u:${secret}@127.0.0.1:1/x`);
    expect(nowhere.exit).toBe(1);
    const garbled = await migrator('garbled', `postgres://u:${secret}@[half/x`);
    expect(garbled.exit).not.toBe(0);
    const missing = await migrator('missing', 'mysql://x');
    expect(missing.exit).toBe(2);
    expect(missing.output).toContain('DATABASE_URL is not set to a postgres:// URL');
    for (const { output } of [wrong, nowhere, garbled, missing])
      expect(output).not.toContain(secret);
  });

  test('half-made work of a failed run is not left behind', async () => {
    // A table in the way makes the first migration fail after it has made several others.
    await query(url, 'create schema leasehold; create table leasehold.job_events (x int)');
    await expect(migrate({ connectionString: url, log: () => undefined })).rejects.toThrow(
      /already exists/,
    );
    expect(await query(url, `select to_regclass('leasehold.jobs') as jobs`)).toEqual([
      { jobs: null },
    ]);
    await query(url, 'drop table leasehold.job_events');
    await migrate({ connectionString: url });
    expect(await shape(url)).toBe(await shape(`${server}/${template}`));
  });
});
