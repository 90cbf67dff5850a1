import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { openDatabase } from '../../infra/cli/doctor/database.ts';
import type { Finding } from '../../infra/cli/doctor/finding.ts';
import { checkVacuum } from '../../infra/cli/doctor/vacuum-checks.ts';
import { SCHEMA_VERSION } from '../../shared/queue/schema-version.ts';
import { askDoctor } from './support/ask-doctor.ts';
import { createCliHarness } from './support/cli-harness.ts';
import type { CliHarness } from './support/cli-harness.ts';

let cli: CliHarness;
beforeAll(async () => {
  cli = await createCliHarness();
});
afterAll(() => cli.close());

/** What a check says while the database is as a statement made it. */
async function whileSql(statement: string, undo: string, check: string): Promise<Finding[]> {
  const { pool } = cli.app.database;
  await pool.query(statement);
  try {
    const { findings } = await askDoctor(cli);
    return findings.filter((finding) => finding.check === check);
  } finally {
    await pool.query(undo);
  }
}

describe('doctor', () => {
  test('finds nothing wrong with a healthy deployment, and touches nothing', async () => {
    await cli.app.database.sql.query(`select leasehold.take_turn('tick', 1)`, []);
    const { code, ok, findings } = await askDoctor(cli);
    expect(findings.filter(({ status }) => status !== 'ok')).toMatchObject([{ check: 'config' }]);
    expect([code, ok]).toEqual([0, true]);
    expect(findings.map(({ check }) => check)).toEqual([
      'config',
      'service.reachable',
      'service.token',
      'service.clock',
      'service.ready',
      'service.tick',
      'database.reachable',
      'database.clock',
      'database.version',
      'database.schema',
      'database.routines',
      'database.indexes',
      'database.event_log',
      'database.partitions',
      'database.roles',
      'database.closed',
      'database.own_rights',
      'database.plans',
      'database.dead_rows',
      'database.autovacuum',
      'database.old_snapshots',
      'database.transaction_ids',
      'database.due_work',
    ]);
  });

  test('tells a person what it saw and what to do', async () => {
    const env = { DATABASE_URL: '', LEASEHOLD_TOKEN: 'none' };
    const { code, out } = await cli.run(['doctor'], { env });
    expect(code).toBe(1);
    expect(out).toMatch(/^ok +service\.reachable +http:\/\/127\.0\.0\.1:\d+ answers in \d+ ms$/m);
    expect(out).toMatch(/^fail +service\.token .*\n +→ Make one: leasehold token --help$/m);
    expect(out).toMatch(/^skipped +database .*\n +→ To check the database, set it/m);
  });

  test.each<[check: string, status: string, todo: RegExp, change: string, undo: string]>([
    [
      'database.schema',
      'fail',
      /npm run migrate/,
      `update leasehold.schema_version set version = ${SCHEMA_VERSION - 1}`,
      `update leasehold.schema_version set version = ${SCHEMA_VERSION}`,
    ],
    [
      'database.schema',
      'fail',
      /Use code of schema 99/,
      'update leasehold.schema_version set version = 99, oldest_code = 99',
      `update leasehold.schema_version set version = ${SCHEMA_VERSION}, oldest_code = 1`,
    ],
    [
      'database.routines',
      'fail',
      /npm run migrate/,
      'alter function leasehold.iso rename to away',
      'alter function leasehold.away rename to iso',
    ],
    [
      'database.indexes',
      'fail',
      /migrations\//,
      'alter index leasehold.job_state_claim rename to away',
      'alter index leasehold.away rename to job_state_claim',
    ],
    [
      'database.indexes',
      'fail',
      /reindex index concurrently leasehold\.job_state_claim_id;/,
      `update pg_index set indisvalid = false where indexrelid = 'leasehold.job_state_claim_id'::regclass`,
      `update pg_index set indisvalid = true where indexrelid = 'leasehold.job_state_claim_id'::regclass`,
    ],
    [
      'database.plans',
      'fail',
      /analyze/,
      'alter index leasehold.job_state_claim rename to away',
      'alter index leasehold.away rename to job_state_claim',
    ],
    [
      'database.plans',
      'fail',
      /npm run migrate/,
      'alter function leasehold.claim reset enable_seqscan',
      'alter function leasehold.claim set enable_seqscan = off',
    ],
    [
      'database.event_log',
      'fail',
      /enable trigger all/,
      'alter table leasehold.job_events_default disable trigger all',
      'alter table leasehold.job_events_default enable trigger all',
    ],
    [
      'database.roles',
      'fail',
      /npm run migrate/,
      'grant execute on function leasehold.claim to leasehold_reader',
      'revoke execute on function leasehold.claim from leasehold_reader',
    ],
    [
      'database.closed',
      'fail',
      /Revoke it/,
      'grant select on leasehold.jobs to leasehold_reader',
      'revoke select on leasehold.jobs from leasehold_reader',
    ],
    [
      'database.closed',
      'fail',
      /npm run migrate/,
      'grant execute on function leasehold.cancel to public',
      'revoke execute on function leasehold.cancel from public',
    ],
    [
      'database.autovacuum',
      'warn',
      /alter table leasehold\.job_state reset \(autovacuum_enabled\);/,
      'alter table leasehold.job_state set (autovacuum_enabled = off)',
      'alter table leasehold.job_state reset (autovacuum_enabled)',
    ],
    [
      'service.tick',
      'warn',
      /cron or schedule/,
      `update leasehold.turns set taken_at = now() - interval '3 hours' where name = 'tick'`,
      `update leasehold.turns set taken_at = now() where name = 'tick'`,
    ],
  ])('%s: %s, and says %s', async (check, status, todo, change, undo) => {
    const [finding, ...more] = await whileSql(change, undo, check);
    expect(finding).toMatchObject({ check, status });
    expect(finding?.todo).toMatch(todo);
    expect(more).toEqual([]);
  });

  test('names queues whose due work nobody takes', async () => {
    await cli.client.enqueue({ queue: 'left alone', type: 'try', payload: 1 });
    const [finding] = await whileSql(
      `update leasehold.job_state set due_at = now() - interval '3 hours' where queue = 'left alone'`,
      `update leasehold.job_state set due_at = now() + interval '3 hours' where queue = 'left alone'`,
      'database.due_work',
    );
    expect(finding).toMatchObject({ status: 'warn' });
    expect(finding?.found).toMatch(/queue left alone: 1 due, the oldest for 3 h/);
  });

  test('sees a clock that is off, from both sides', async () => {
    const { code, findings } = await askDoctor(cli, { now: () => Date.now() + 6 * 60_000 });
    expect(code).toBe(1);
    const clocks = findings.filter(({ check }) => check.endsWith('clock'));
    expect(clocks).toMatchObject([
      { check: 'service.clock', status: 'fail' },
      { check: 'database.clock', status: 'fail' },
    ]);
    expect(clocks[1]?.found).toMatch(/^the database is (5 min 59 s|6 min) behind this machine$/);
    const slow = await askDoctor(cli, { now: () => Date.now() - 60_000 });
    expect(slow.findings.find(({ check }) => check === 'database.clock')?.status).toBe('warn');
  });

  test('names who holds an old snapshot, and dead rows', async () => {
    const { pool, pgUrl } = cli.app.database;
    const holder = await pool.connect();
    const writer = await pool.connect();
    const database = await openDatabase(pgUrl);
    try {
      await holder.query('begin isolation level repeatable read');
      await holder.query('select 1');
      const { rows } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid');
      for (const weight of [2, 3, 1]) {
        await writer.query('update leasehold.queues set weight = $1', [weight]);
      }
      await writer.query('select pg_stat_force_next_flush()');
      const findings = await checkVacuum(database, { deadRows: 0, snapshotSeconds: -1 });
      const snapshots = findings.find(({ check }) => check === 'database.old_snapshots');
      expect(snapshots?.status).toBe('warn');
      const dead = findings.find(({ check }) => check === 'database.dead_rows');
      expect(dead?.found).toMatch(/queues has \d+ dead rows beside \d+ live ones/);
      expect(dead?.todo).toContain('vacuum leasehold.queues;');
      expect(snapshots?.todo).toContain(`select pg_terminate_backend(${rows[0]?.pid});`);
    } finally {
      await holder.query('rollback');
      holder.release();
      writer.release();
      await database.close();
    }
  });
});
