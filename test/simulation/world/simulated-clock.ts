import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import type { Fault } from '../virtual-clock.ts';
import type { Control } from './control.ts';

const ROUTINES = fileURLToPath(new URL('../../../migrations/routines/', import.meta.url));
const CLOCKS = /\b(?:clock|statement)_timestamp\(\)/g;

/** An entry walked stands for a hundred: how often floors are refreshed without floors depends on how many were walked. */
const FEWER_ENTRIES: Fault = { routine: 'refresh_claim_floors', from: '50e-6', to: '5000e-6' };

/**
 * Puts the routines and the columns of a database on a clock that stands still: each look moves it by a microsecond, and
 * `virtual.move` by as much as one likes. So no instant depends on how fast the machine is. Faults are put in at once.
 */
export async function installSimulatedClock(
  client: pg.ClientBase,
  faults: readonly Fault[] = [],
): Promise<void> {
  await client.query(`
    create schema virtual;
    create sequence virtual.now_us as bigint;
    create table virtual.start as select date_trunc('milliseconds', clock_timestamp()) as at`);
  const { rows } = await client.query<{ at: string }>('select at::text from virtual.start');
  const start = rows[0]?.at ?? '';
  await client.query(`
    create function virtual.clock() returns timestamptz language sql volatile as
      $$ select timestamptz '${start}' + nextval('virtual.now_us') * interval '1 microsecond' $$;
    -- Without moving it.
    create function virtual.peek() returns timestamptz language sql volatile as
      $$ select timestamptz '${start}' + (select last_value from virtual.now_us) * interval '1 microsecond' $$;
    create function virtual.move(p_us bigint) returns bigint language sql volatile as
      $$ select setval('virtual.now_us', (select last_value from virtual.now_us) + p_us + 1) $$;
    create function virtual.started() returns timestamptz language sql volatile as
      $$ select coalesce(nullif(current_setting('virtual.started', true), '')::timestamptz, virtual.clock()) $$;
    set check_function_bodies = off`);
  const changes = [FEWER_ENTRIES, ...faults];
  const unused = new Set(changes);
  for (const file of readdirSync(ROUTINES).filter((name) => name !== 'apply_grants.sql')) {
    let text = readFileSync(ROUTINES + file, 'utf8');
    for (const fault of changes.filter(({ routine }) => `${routine}.sql` === file)) {
      if (text.includes(fault.from)) unused.delete(fault);
      text = text.replaceAll(fault.from, fault.to);
    }
    const moved = text
      .replaceAll(CLOCKS, 'virtual.clock()')
      .replaceAll('transaction_timestamp()', 'virtual.started()');
    await client.query(moved);
  }
  await client.query('reset check_function_bodies');
  await client.query(DEFAULTS);
  if (unused.size > 0) throw new Error(`nothing to change: ${JSON.stringify([...unused])}`);
}

const DEFAULTS = `
  do $$
  declare d record;
  begin
    for d in
      select a.attrelid::regclass as place, a.attname, pg_get_expr(x.adbin, x.adrelid) as value
      from pg_attrdef x
      join pg_attribute a on a.attrelid = x.adrelid and a.attnum = x.adnum
      join pg_class c on c.oid = x.adrelid
      where c.relnamespace = 'leasehold'::regnamespace and pg_get_expr(x.adbin, x.adrelid) like '%clock_timestamp()%'
    loop
      execute format('alter table %s alter column %I set default %s', d.place, d.attname,
        replace(d.value, 'clock_timestamp()', 'virtual.clock()'));
    end loop;
  end $$`;

/** Where the clock stands: milliseconds since 1970. */
export async function readClock(control: Control): Promise<number> {
  const rows = await control.query<{ ms: number }>(
    'select (extract(epoch from virtual.peek()) * 1000)::float8 as ms',
  );
  return rows[0]?.ms ?? 0;
}

/** A call that moves the clock. */
export function moveCall(milliseconds: number): string {
  return `virtual.move(${Math.max(0, Math.round(milliseconds * 1000))})`;
}
