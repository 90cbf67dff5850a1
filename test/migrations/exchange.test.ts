/** Routines are exchanged while they run: what a call began in the old one, it ends there. */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { migrate } from '../../infra/migrate.ts';

const { host, port, user, password } = inject('cluster');
const server = `postgres://${user}:${password}@${host}:${port}`;
const COMPLETE = 'leasehold.complete(uuid, text, bigint, jsonb, text, boolean)';

let admin: pg.Client;
let pool: pg.Pool;
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
  name = `exchange_${process.pid}_${serial}`;
  url = `${server}/${name}`;
  await admin.query(`create database ${name}`);
  await migrate({ connectionString: url });
  pool = new pg.Pool({ connectionString: url });
  pool.on('error', () => undefined); // an idle connection that the end of its database cut
  // As a release before had it, with fewer columns; it waits for whoever holds the gate.
  await pool.query(`
    drop function ${COMPLETE};
    create function leasehold.complete(
      p_job_id uuid, p_owner text, p_fencing_token bigint, p_result jsonb default null, p_result_problem text default null,
      p_raise boolean default false
    ) returns table (outcome text, more_due boolean) language plpgsql as $$
    begin
      perform pg_advisory_xact_lock_shared(1);
      return query select 'by the old one'::text, false;
    end $$`);
});
afterEach(async () => {
  await pool.end();
  await admin.query(`drop database ${name} with (force)`);
});

test('a call that runs ends in the routine that it began in, and the next one is of the new', async () => {
  const gate = await pool.connect();
  await gate.query('select pg_advisory_lock(1)');
  const call = pool.query<{ outcome: string }>(
    `select * from leasehold.complete(gen_random_uuid(), 'me', 1)`,
  );
  await untilTrue(
    `select exists (select from pg_locks where locktype = 'advisory' and not granted)`,
  );

  const migrated = migrate({ connectionString: url });
  await untilTrue(`select to_regproc('leasehold.retired_complete') is not null`);
  const next = await pool.query<{ outcome: string }>(
    `select * from leasehold.complete(gen_random_uuid(), 'me', 1)`,
  );
  expect(next.rows).toMatchObject([{ outcome: 'lease_lost' }]);

  await gate.query('select pg_advisory_unlock(1)');
  gate.release();
  expect((await call).rows).toEqual([{ outcome: 'by the old one', more_due: false }]);
  await migrated;
  expect(await retired()).toEqual([]);
});

test('of a call that outlasts the wait, the next run drops the routine', async () => {
  const open = await pool.connect();
  await open.query('begin');
  await open.query('select 1');
  await migrate({ connectionString: url });
  expect(await retired()).toEqual(['retired_complete']);
  await open.query('rollback');
  open.release();
  await migrate({ connectionString: url });
  expect(await retired()).toEqual([]);
});

async function retired(): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select proname::text as name from pg_proc
     where pronamespace = 'leasehold'::regnamespace and proname like 'retired%'`,
  );
  return rows.map((row) => row.name);
}

async function untilTrue(question: string): Promise<void> {
  await expect
    .poll(
      async () => {
        const { rows } = await pool.query<Record<string, boolean>>(question);
        return Object.values(rows[0] ?? {})[0];
      },
      { timeout: 20_000, interval: 10 },
    )
    .toBe(true);
}
