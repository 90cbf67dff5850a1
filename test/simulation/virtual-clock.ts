import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';

const ROUTINES = fileURLToPath(new URL('../../migrations/routines/', import.meta.url));
const CLOCKS = /\b(?:clock|statement)_timestamp\(\)/g;

/** A change to the text of one routine: what a test has to notice. */
export interface Fault {
  readonly routine: string;
  readonly from: string;
  readonly to: string;
}

/** An entry walked stands for a hundred: how often floors are refreshed without floors depends on how many were walked. */
const FEWER_ENTRIES: Fault = { routine: 'refresh_claim_floors', from: '50e-6', to: '5000e-6' };

/** A clock of the database under test that moves when it is told to, and backwards too. */
export interface VirtualClock {
  /** Milliseconds, negative for a step back. */
  move(ms: number): Promise<void>;
}

/**
 * Puts every routine of this database on a clock that can be moved: the real one plus an offset. The offset is a sequence,
 * whose value no snapshot holds back. A transaction that began before a move starts with
 * `set local virtual.offset = <value then>`, so that its start stays where it was; see `begin`.
 */
export async function installVirtualClock(
  pool: pg.Pool,
  faults: readonly Fault[] = [],
): Promise<VirtualClock> {
  const client = await pool.connect();
  await client.query(`
    create schema virtual;
    create sequence virtual.offset_us minvalue -1000000000000 start 0;
    create function virtual.clock() returns timestamptz language sql volatile as
      'select pg_catalog.clock_timestamp() + (select last_value from virtual.offset_us) * interval ''1 microsecond''';
    create function virtual.started() returns timestamptz language sql volatile as
      'select pg_catalog.transaction_timestamp() + coalesce(
         nullif(current_setting(''virtual.offset'', true), '''')::bigint, (select last_value from virtual.offset_us)
       ) * interval ''1 microsecond''';
    set check_function_bodies = off;
  `);
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
  client.release();
  if (unused.size > 0) throw new Error(`nothing to change: ${JSON.stringify([...unused])}`);
  return {
    move: async (ms) => {
      await pool.query(
        `select setval('virtual.offset_us', (select last_value from virtual.offset_us) + $1)`,
        [ms * 1000],
      );
    },
  };
}

/** Starts a transaction whose start keeps its place on the virtual clock. */
export async function begin(client: pg.PoolClient, isolation: string): Promise<void> {
  await client.query(`begin isolation level ${isolation}`);
  // A snapshot is taken here, which at repeatable read is the one that stays.
  await client.query(
    `select set_config('virtual.offset', (select last_value::text from virtual.offset_us), true)`,
  );
}
