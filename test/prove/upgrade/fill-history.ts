import type pg from 'pg';

const QUEUE = 'history';

/** Jobs that ended before: one that really ran, and copies of all its rows under new ids. A migration meets them. */
export async function fillHistory(pool: pg.Pool, count: number): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query(
      `select leasehold.enqueue(leasehold.new_job_id(), $1::text, 'kept', '{"note": "an ordinary payload of some bytes"}')`,
      [QUEUE],
    );
    const { rows } = await client.query<{ job_id: string; fencing_token: string }>(
      `select job_id, fencing_token from leasehold.claim($1::text, 'filler', gen_random_uuid())`,
      [QUEUE],
    );
    const [model] = rows;
    if (model === undefined) throw new Error('nothing to copy');
    await client.query(
      `select leasehold.complete($1::uuid, 'filler', $2::bigint, '{"sent": true}')`,
      [model.job_id, model.fencing_token],
    );
    await client.query('begin');
    await client.query(
      `create temp table copies on commit drop as select leasehold.new_job_id() as id from generate_series(1, $1::int)`,
      [count],
    );
    await copy(client, model.job_id, { table: 'jobs', key: 'id', kept: [] });
    await copy(client, model.job_id, { table: 'attempts', key: 'job_id', kept: [] });
    await copy(client, model.job_id, { table: 'finished_jobs', key: 'job_id', kept: [] });
    await copy(client, model.job_id, {
      table: 'job_events',
      key: 'job_id',
      kept: ['id', 'xact_id'],
    });
    await client.query('commit');
    await forgetWeeks(client);
    await client.query('vacuum (analyze) leasehold.job_events, leasehold.jobs, leasehold.attempts');
  } finally {
    client.release();
  }
}

/** Some weeks pass: those that were made ahead are no longer enough, and the next migration makes more. */
async function forgetWeeks(client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_class c
     where c.relnamespace = 'leasehold'::regnamespace and c.relispartition and c.relkind = 'r'
       and to_date(substring(c.relname from '_(\\d{8})$'), 'YYYYMMDD') > now() + interval '9 weeks'`,
  );
  for (const { name } of rows) await client.query(`drop table leasehold.${name}`);
}

/** Copies the rows of one job; columns in `kept` get their defaults. */
async function copy(
  client: pg.PoolClient,
  id: string,
  { table, key, kept }: { readonly table: string; readonly key: string; readonly kept: string[] },
): Promise<void> {
  const { rows } = await client.query<{ columns: string }>(
    `select string_agg(quote_ident(attname), ', ' order by attnum) as columns from pg_attribute
     where attrelid = to_regclass('leasehold.' || $1::text) and attnum > 0 and not attisdropped and attname <> all ($2::text[])`,
    [table, [key, ...kept]],
  );
  const columns = rows[0]?.columns ?? '';
  await client.query(
    `insert into leasehold.${table} (${key}, ${columns})
     select c.id, ${columns
       .split(', ')
       .map((column) => `m.${column}`)
       .join(', ')}
     from copies c cross join leasehold.${table} m where m.${key} = $1::uuid
     order by c.id${kept.includes('id') ? ', m.id' : ''}`,
    [id],
  );
}
