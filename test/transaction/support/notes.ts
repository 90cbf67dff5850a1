import type pg from 'pg';

/** A table of the caller's own: what it writes beside the queue. */
export async function createNotes(pool: pg.Pool): Promise<void> {
  await pool.query(
    'create table notes (id bigint generated always as identity, note text not null)',
  );
}

/** What is committed, oldest first. */
export async function notes(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ note: string }>('select note from notes order by id');
  return rows.map(({ note }) => note);
}
