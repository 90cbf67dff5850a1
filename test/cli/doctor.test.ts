import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { openDatabase } from '../../infra/cli/doctor/database.ts';
import type { Finding } from '../../infra/cli/doctor/finding.ts';
import { checkVacuum } from '../../infra/cli/doctor/vacuum-checks.ts';
import { SCHEMA_VERSION } from '../../shared/queue/schema-version.ts';
import { AUTH_SECRET, POKE_KEY, signToken } from '../routes/support/app-harness.ts';
import { createCliHarness } from './support/cli-harness.ts';
import type { CliHarness, RunOptions } from './support/cli-harness.ts';

interface Report {
  readonly ok: boolean;
  readonly findings: readonly Finding[];
}

let cli: CliHarness;
let folder: string;
beforeAll(async () => {
  cli = await createCliHarness();
  folder = mkdtempSync(join(tmpdir(), 'leasehold-doctor-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await cli.close();
});

async function doctor(options: RunOptions = {}): Promise<Report & { readonly code: number }> {
  const env = { DATABASE_URL: cli.app.database.pgUrl, ...options.env };
  const { code, out } = await cli.run(['doctor', '--json'], { ...options, env });
  return { code, ...(JSON.parse(out) as Report) };
}

/** What a check says while the database is as a statement made it. */
async function whileSql(statement: string, undo: string, check: string): Promise<Finding[]> {
  const { pool } = cli.app.database;
  await pool.query(statement);
  try {
    const { findings } = await doctor();
    return findings.filter((finding) => finding.check === check);
  } finally {
    await pool.query(undo);
  }
}

describe('doctor', () => {
  test('finds nothing wrong with a healthy deployment, and touches nothing', async () => {
    await cli.app.database.sql.query(`select leasehold.take_turn('tick', 1)`, []);
    const { code, ok, findings } = await doctor();
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
    const { code, findings } = await doctor({ now: () => Date.now() + 6 * 60_000 });
    expect(code).toBe(1);
    const clocks = findings.filter(({ check }) => check.endsWith('clock'));
    expect(clocks).toMatchObject([
      { check: 'service.clock', status: 'fail' },
      { check: 'database.clock', status: 'fail' },
    ]);
    expect(clocks[1]?.found).toMatch(/^the database is (5 min 59 s|6 min) behind this machine$/);
    const slow = await doctor({ now: () => Date.now() - 60_000 });
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

describe('who looks', () => {
  /** A database user of this test alone, with what it was granted. */
  async function asUser(grant: string): Promise<Report> {
    const name = `doctor_${randomBytes(4).toString('hex')}`;
    const { pool, pgUrl } = cli.app.database;
    await pool.query(`create role ${name} login password 'secret-of-the-user'`);
    try {
      if (grant !== '') await pool.query(`grant ${grant} to ${name}`);
      const url = new URL(pgUrl);
      url.username = name;
      url.password = 'secret-of-the-user';
      return await doctor({ env: { DATABASE_URL: url.href } });
    } finally {
      await pool.query(`drop owned by ${name}`);
      await pool.query(`drop role ${name}`);
    }
  }

  test('the user of the functions sees all but the plans', async () => {
    const { ok, findings } = await asUser('leasehold_service');
    expect(findings.filter(({ status }) => status === 'fail')).toEqual([]);
    expect(ok).toBe(true);
    const plans = findings.find(({ check }) => check === 'database.plans');
    expect(plans).toMatchObject({ status: 'skipped' });
    expect(plans?.todo).toContain('owner');
  });

  test('a user who may do nothing is told what to grant', async () => {
    const { findings } = await asUser('');
    const schema = findings.find(({ check }) => check === 'database.schema');
    expect(schema).toMatchObject({ status: 'fail' });
    expect(schema?.todo).toMatch(/^grant leasehold_service to "doctor_/);
  });

  test('a user who may only look is told so', async () => {
    const { findings } = await asUser('leasehold_reader');
    const own = findings.find(({ check }) => check === 'database.own_rights');
    expect(own).toMatchObject({ status: 'fail' });
    expect(own?.found).toContain('may not claim jobs');
  });

  test('a database that does not answer shows no password', async () => {
    const DATABASE_URL = 'postgres://someone:very-secret@127.0.0.1:9/jobs';
    const { code, findings } = await doctor({ env: { DATABASE_URL } });
    expect(code).toBe(1);
    expect(findings.at(-1)).toMatchObject({ check: 'database.reachable', status: 'fail' });
    expect(JSON.stringify(findings)).not.toContain('very-secret');
  });
});

describe('the service and its variables', () => {
  test('a service that does not answer is the one finding about it', async () => {
    const { code, findings } = await doctor({ env: { LEASEHOLD_URL: 'http://127.0.0.1:9' } });
    expect(code).toBe(1);
    const service = findings.filter(({ check }) => check.startsWith('service'));
    expect(service).toMatchObject([{ check: 'service.reachable', status: 'fail' }]);
  });

  test('a token that has ended, or is of another deployment, is told apart', async () => {
    const expiresAt = Math.floor(Date.now() / 1000) - 60;
    const ended = await doctor({
      env: { LEASEHOLD_TOKEN: await signToken('read', { expiresAt }) },
    });
    const byCheck = (report: Report, name: string): Finding | undefined =>
      report.findings.find(({ check }) => check === name);
    expect(byCheck(ended, 'service.token')?.found).toContain('ended');
    const secret = 'another-secret-of-at-least-32-bytes-x';
    const other = await doctor({ env: { LEASEHOLD_TOKEN: await signToken('read', { secret }) } });
    expect(byCheck(other, 'service.token')?.status).toBe('ok');
    expect(byCheck(other, 'service.ready')?.todo).toContain('signed for this deployment');
  });

  test('variables come from a file, and each fault is named without its value', async () => {
    const lines = [`AUTH_SECRET=${AUTH_SECRET}`, `POKE_SECRETS=${POKE_KEY}`];
    writeFileSync(join(folder, 'vars'), lines.join('\n'));
    const args = ['doctor', '--env-file', 'vars', '--json'];
    const env = { DATABASE_URL: cli.app.database.pgUrl };
    const good = JSON.parse((await cli.run(args, { folder, env })).out) as Report;
    expect(good.findings[0]).toMatchObject({ check: 'config', status: 'ok' });
    writeFileSync(join(folder, 'vars'), 'AUTH_SECRET=too-short-secret\n');
    const { code, out } = await cli.run(args, { folder, env });
    expect(code).toBe(1);
    const bad = (JSON.parse(out) as Report).findings.filter(({ check }) => check === 'config');
    expect(bad.map(({ todo }) => todo)).toEqual(['Set AUTH_SECRET.', 'Set POKE_SECRETS.']);
    expect(out).not.toContain('too-short-secret');
    const none = await cli.run(['doctor', '--env-file', 'nowhere'], { folder });
    expect(none).toMatchObject({ code: 2, out: '' });
  });

  test('without the service, the database tells of the last scheduled pass', async () => {
    const { findings } = await doctor({
      env: { LEASEHOLD_TOKEN: '', LEASEHOLD_URL: 'https://jobs.example.com' },
    });
    const checks = findings.map(({ check }) => check);
    expect(checks).toContain('database.tick');
    expect(checks).not.toContain('service.tick');
  });

  test('warnings end with 1 only when they are asked to', async () => {
    await cli.app.database.pool.query('delete from leasehold.turns');
    const env = { DATABASE_URL: cli.app.database.pgUrl };
    expect(await cli.run(['doctor'], { env })).toMatchObject({ code: 0 });
    expect(await cli.run(['doctor', '--strict'], { env })).toMatchObject({ code: 1 });
  });
});
