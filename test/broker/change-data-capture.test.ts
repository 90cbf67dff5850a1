/** What docs/cdc.md says, on a Postgres whose log is read: the table as a reader of change data capture gets it. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPostgres, type Postgres } from '../../infra/local/postgres.ts';
import { migrate } from '../../infra/migrate.ts';
import { append, newEvent } from '../outbox/support/outbox.ts';
import { createPgSql } from '../support/pg-sql.ts';
import { readIfPresent } from '../tidy/source-files.ts';
import { decodePgoutput, type InsertedRow } from './support/decode-pgoutput.ts';

const PAGE = readIfPresent('docs/cdc.md') ?? '';

let folder: string;
let postgres: Postgres;
let pool: pg.Pool;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'leasehold-cdc-'));
  chmodSync(folder, 0o755); // Postgres may run as another user
  postgres = await startPostgres({
    dataDir: folder,
    settings: { wal_level: 'logical', fsync: 'off' },
  });
  const { host, port, user, password } = postgres;
  const connectionString = `postgres://${user}:${password}@${host}:${port}/postgres`;
  await migrate({ connectionString, log: () => undefined });
  pool = new pg.Pool({ connectionString });
  // The server may stop before the last connection has said goodbye.
  pool.on('error', () => undefined);
  await pool.query(block('sql'));
  await pool.query(`select pg_create_logical_replication_slot('leasehold_outbox', 'pgoutput')`);
});
afterAll(async () => {
  await pool.end();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
  rmSync(postgres.cluster, { recursive: true, force: true });
});

/** The first code block of a language on the page. */
function block(language: string): string {
  const [, text] = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(PAGE) ?? [];
  if (text === undefined) throw new Error(`no ${language} on the page`);
  return text;
}

async function captured(): Promise<(InsertedRow | string)[]> {
  const { rows } = await pool.query<{ data: Buffer }>(
    `select data from pg_logical_slot_get_binary_changes('leasehold_outbox', null, null,
       'proto_version', '1', 'publication_names', 'leasehold_outbox')`,
  );
  return decodePgoutput(rows.map(({ data }) => data));
}

test('S4.10 the log has each committed event once, whole, in the order of versions; what the relay and retention do is not in it', async () => {
  const sql = createPgSql(pool);
  const headers = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' };
  const first = newEvent({ aggregateId: '1', payload: { total: 10 }, schemaVersion: 3, headers });
  await append(sql, first);
  await append(sql, { aggregateId: '2', payload: null });
  const { payload: _none, ...bodiless } = newEvent({ aggregateId: '1' });
  await pool.query('select leasehold.append_event($1, $2, $3, $4, null)', [
    bodiless.id,
    bodiless.aggregateType,
    bodiless.aggregateId,
    bodiless.type,
  ]);
  const client = await pool.connect();
  await client.query('begin');
  await client.query(
    `select leasehold.append_event(leasehold.new_job_id(), 'order', '9', 'order.placed', '{}')`,
  );
  await client.query('rollback');
  client.release();
  await pool.query(`select leasehold.claim_events('relay', gen_random_uuid())`);
  await pool.query(
    'update leasehold.outbox_events set payload = null, payload_dropped_at = now() where id = $1',
    [first.id],
  );
  await pool.query('delete from leasehold.outbox_events where id = $1', [first.id]);

  const changes = await captured();
  expect(changes.map((change) => (typeof change === 'string' ? change : change.table))).toEqual(
    Array<string>(3).fill('leasehold.outbox_events'),
  );
  const rows = changes.flatMap((change) => (typeof change === 'string' ? [] : [change.columns]));
  expect(rows[0]).toMatchObject({
    id: first.id,
    aggregate_type: 'order',
    aggregate_id: '1',
    version: '1',
    type: 'order.placed',
    schema_version: '3',
    payload: '{"total": 10}',
    headers: JSON.stringify(headers).replace(':', ': '),
  });
  // Case I3: JSON null and no body at all are told apart.
  expect(rows.slice(1)).toMatchObject([
    { aggregate_id: '2', version: '1', payload: 'null' },
    { aggregate_id: '1', version: '2', payload: null },
  ]);
});

test('S4.10 case I1 an event whose transaction stays open comes with its commit, and is not passed over', async () => {
  await captured();
  const late = await pool.connect();
  await late.query('begin');
  const add = `select leasehold.append_event(leasehold.new_job_id(), 'order', $1, 'order.placed', '{}')`;
  await late.query(add, ['late']);
  await pool.query(add, ['early']);
  const before = await captured();
  await late.query('commit');
  late.release();
  const after = await captured();
  const ids = (changes: typeof before): (string | null | undefined)[] =>
    changes.map((change) => (typeof change === 'string' ? change : change.columns['aggregate_id']));
  expect(ids(before)).toEqual(['early']);
  expect(ids(after)).toEqual(['late']);
});

test("S4.10 each column that Debezium's router is told of is in the publication", async () => {
  const { rows } = await pool.query<{ attnames: string[] }>(
    `select attnames::text[] from pg_publication_tables where pubname = 'leasehold_outbox'`,
  );
  const columns = rows[0]?.attnames ?? [];
  const lines = block('properties').split('\n');
  const told = lines.flatMap((line) => {
    const [, name = '', value = ''] = /^transforms\.outbox\.([\w.]+)=(.*)$/.exec(line) ?? [];
    if (name === 'table.fields.additional.placement') {
      return value.split(',').map((placement) => placement.split(':')[0] ?? '');
    }
    return /^(?:table\.field\.event\.|route\.by\.field)/.test(name) ? [value] : [];
  });
  expect(told.length).toBeGreaterThan(8);
  expect(told.filter((column) => !columns.includes(column))).toEqual([]);
});
