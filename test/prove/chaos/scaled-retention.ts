import { readFileSync } from 'node:fs';
import type pg from 'pg';
import { RETENTION_MINUTES } from './plan.ts';

const ROUTINES = new URL('../../../migrations/routines/', import.meta.url);

/**
 * In these routines a minute stands for a day and for a week: retention and partitions, which keep a database small over
 * months, then work within the run. Nothing else about them changes, and a text that is not found fails.
 */
const SCALED: Readonly<Record<string, readonly (readonly [text: string, instead: string])[]>> = {
  ensure_partitions: [
    [
      "date_trunc('week', now(), 'UTC') - interval '7 days'",
      "date_trunc('minute', now()) - interval '1 minute'",
    ],
    ["date_trunc('week', now(), 'UTC')", "date_trunc('minute', now())"],
    ['make_interval(days => 7 * ', 'make_interval(mins => '],
    ["interval '7 days'", "interval '1 minute'"],
    [
      "to_char(v_week at time zone 'UTC', 'YYYYMMDD')",
      "lpad((extract(epoch from v_week) / 60)::bigint::text, 8, '0')",
    ],
  ],
  retain: [
    ['make_interval(days =>', 'make_interval(mins =>'],
    [
      "to_date(right(c.relname, 8), 'YYYYMMDD')::timestamp at time zone 'UTC'",
      'to_timestamp(right(c.relname, 8)::bigint * 60)',
    ],
    ["interval '7 days'", "interval '1 minute'"],
    ["interval '2 days'", "interval '2 minutes'"],
  ],
  retain_outbox: [['make_interval(days =>', 'make_interval(mins =>']],
};

/** Call before anything is written: the partitions of weeks make way for those of minutes. */
export async function scaleRetention(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `select c.relname as name from pg_class c
     where c.relnamespace = 'leasehold'::regnamespace and c.relispartition and c.relkind = 'r' and c.relname ~ '_\\d{8}$'`,
  );
  for (const { name } of rows) await pool.query(`drop table leasehold.${name}`);
  for (const [routine, changes] of Object.entries(SCALED)) {
    let text = readFileSync(new URL(`${routine}.sql`, ROUTINES), 'utf8');
    for (const [from, to] of changes) {
      if (!text.includes(from)) throw new Error(`${routine}.sql no longer holds "${from}".`);
      text = text.replaceAll(from, to);
    }
    await pool.query(text);
  }
  await pool.query(`
    drop trigger outbox_log_keeps_a_day on leasehold.outbox_log;
    create trigger outbox_log_keeps_a_day before delete on leasehold.outbox_log
      for each row when (old.at > now() - interval '1 minute') execute function leasehold.refuse_change();
    select leasehold.ensure_partitions(8)`);
}

/** One pass, as the scheduled one makes it. */
export async function retainOnce(pool: pg.Pool): Promise<void> {
  for (let gone = 1; gone > 0;) {
    const { rows } = await pool.query<{ gone: number }>(
      `select leasehold.retain(5000, 24) + leasehold.retain_outbox(5000, 1, ${RETENTION_MINUTES}, ${RETENTION_MINUTES}) as gone`,
    );
    gone = rows[0]?.gone ?? 0;
    if (gone < 100) return;
  }
}
