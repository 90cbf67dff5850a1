import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { Fault } from '../virtual-clock.ts';
import { Connections } from './connections.ts';
import { installSimulatedClock } from './simulated-clock.ts';

/** A database on a simulated clock, that each seed finds as the first one did. */
export interface Ground {
  readonly url: string;
  readonly connections: Connections;
  /** Takes away what a seed has left. */
  clear(): Promise<void>;
  drop(): Promise<void>;
}

export interface GroundOptions {
  /** `postgres://user:password@host:port` */
  readonly server: string;
  /** Name of a migrated database that nobody is connected to. */
  readonly template: string;
  /** Changes of the routines, for a test of the tests. */
  readonly faults?: readonly Fault[];
  /** Statements that go with them. */
  readonly statements?: string;
}

/** What the simulated producers, workers and consumers write beside the queue, in their own transactions. */
const APP = `
  create schema app;
  create table app.orders (id uuid primary key, note text);
  create table app.job_effects (job_id uuid, fencing_token bigint);
  create table app.event_effects (
    at bigint generated always as identity, consumer text, sender text, event_id uuid, aggregate text, version bigint
  )`;

/** Emptying a table is cheaper than copying a database. What a fresh one has in its tables is kept aside. */
const CLEARING = `
  create schema fresh;
  do $$
  declare t record;
  begin
    -- Weeks to come are nothing to a run of seconds.
    for t in select c.oid::regclass as place from pg_class c
      where c.relnamespace = 'leasehold'::regnamespace and c.relispartition and c.relname ~ '_\\d{8}$' and c.relkind = 'r'
    loop
      execute format('drop table %s', t.place);
    end loop;
    for t in select c.relname from pg_class c
      where c.relnamespace = 'leasehold'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and c.relname <> 'schema_version'
    loop
      execute format('create table fresh.%I as table leasehold.%I', t.relname, t.relname);
    end loop;
  end $$;
  create procedure fresh.clear() language plpgsql as $$
  declare
    t record;
    v_has_rows boolean;
  begin
    set local session_replication_role = replica; -- the log refuses it
    for t in
      select c.oid::regclass as place, f.oid::regclass as fresh
      from pg_class c
      left join pg_class f on f.relname = c.relname and f.relnamespace = 'fresh'::regnamespace
      where c.relnamespace in ('leasehold'::regnamespace, 'app'::regnamespace) and c.relkind in ('r', 'p')
        and not c.relispartition and c.relname not in ('schema_version', 'pgmigrations')
    loop
      execute format('select exists (select from %s)', t.place) into v_has_rows;
      continue when not v_has_rows;
      execute format('truncate %s restart identity', t.place);
      if t.fresh is not null then
        execute format('insert into %s overriding system value table %s', t.place, t.fresh);
      end if;
    end loop;
    for t in select c.oid::regclass as place from pg_class c
      where c.relkind = 'S' and c.relnamespace in ('leasehold'::regnamespace, 'virtual'::regnamespace)
    loop
      execute format('alter sequence %s restart', t.place);
    end loop;
  end $$`;

export async function prepareGround(options: GroundOptions): Promise<Ground> {
  const { server, template, faults, statements } = options;
  const name = `simulation_${randomBytes(6).toString('hex')}`;
  const url = `${server}/${name}`;
  await withClient(`${server}/postgres`, `create database ${name} template ${template}`);
  const drop = (): Promise<void> =>
    withClient(`${server}/postgres`, `drop database if exists ${name} with (force)`);
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    await installSimulatedClock(client, faults);
    await client.query(APP);
    await client.query(CLEARING);
    // When dead entries go is up to the seed.
    await client.query('alter table leasehold.job_state set (autovacuum_enabled = off)');
    if (statements !== undefined) await client.query(statements);
  } catch (error) {
    await client.end();
    await drop();
    throw error;
  }
  await client.end();
  const connections = new Connections(url);
  return {
    url,
    connections,
    clear: () => withClient(url, 'call fresh.clear()'),
    drop: async () => {
      await connections.close();
      await drop();
    },
  };
}

async function withClient(connectionString: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
