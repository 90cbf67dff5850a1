/** The doctor by who looks, and at what. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { Finding } from '../../infra/cli/doctor/finding.ts';
import { AUTH_SECRET, POKE_KEY, signToken } from '../routes/support/app-harness.ts';
import { askDoctor } from './support/ask-doctor.ts';
import type { Report } from './support/ask-doctor.ts';
import { createCliHarness } from './support/cli-harness.ts';
import type { CliHarness } from './support/cli-harness.ts';

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
      return await askDoctor(cli, { env: { DATABASE_URL: url.href } });
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
    const { code, findings } = await askDoctor(cli, { env: { DATABASE_URL } });
    expect(code).toBe(1);
    expect(findings.at(-1)).toMatchObject({ check: 'database.reachable', status: 'fail' });
    expect(JSON.stringify(findings)).not.toContain('very-secret');
  });
});

describe('the service and its variables', () => {
  test('a service that does not answer is the one finding about it', async () => {
    const { code, findings } = await askDoctor(cli, {
      env: { LEASEHOLD_URL: 'http://127.0.0.1:9' },
    });
    expect(code).toBe(1);
    const service = findings.filter(({ check }) => check.startsWith('service'));
    expect(service).toMatchObject([{ check: 'service.reachable', status: 'fail' }]);
  });

  test('a token that has ended, or is of another deployment, is told apart', async () => {
    const expiresAt = Math.floor(Date.now() / 1000) - 60;
    const ended = await askDoctor(cli, {
      env: { LEASEHOLD_TOKEN: await signToken('read', { expiresAt }) },
    });
    const byCheck = (report: Report, name: string): Finding | undefined =>
      report.findings.find(({ check }) => check === name);
    expect(byCheck(ended, 'service.token')?.found).toContain('ended');
    const secret = 'another-secret-of-at-least-32-bytes-x';
    const other = await askDoctor(cli, {
      env: { LEASEHOLD_TOKEN: await signToken('read', { secret }) },
    });
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
    const { findings } = await askDoctor(cli, {
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
