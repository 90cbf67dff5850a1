/** The command line as a process, and what holds for every command of it. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { EXIT } from '../../infra/cli/exit-code.ts';
import { createProgram } from '../../infra/cli/program.ts';
import { readIfPresent } from '../tidy/source-files.ts';
import { createCliHarness } from './support/cli-harness.ts';
import type { CliHarness } from './support/cli-harness.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BIN = join(ROOT, 'infra/cli/leasehold.mjs');
/** Nothing answers there. */
const NOWHERE = 'http://127.0.0.1:9';

let cli: CliHarness;
let folder: string;
beforeAll(async () => {
  cli = await createCliHarness();
  folder = mkdtempSync(join(tmpdir(), 'leasehold cli '));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await cli.close();
});

describe('the process', () => {
  const env = { PATH: process.env['PATH'], LEASEHOLD_URL: NOWHERE, LEASEHOLD_TOKEN: 'x' };

  test('helps on standard output, from any folder', () => {
    const done = spawnSync(BIN, ['--help'], { cwd: folder, env, encoding: 'utf8' });
    expect([done.status, done.stderr]).toEqual([0, '']);
    expect(done.stdout).toMatch(/^Usage: leasehold <command>/);
  });

  test('tells wrong usage on standard error, with 2', () => {
    const done = spawnSync(BIN, ['lst'], { cwd: folder, env, encoding: 'utf8' });
    expect([done.status, done.stdout]).toEqual([2, '']);
    expect(done.stderr).toContain('Did you mean list?');
    expect(done.stderr).not.toContain('\u001b');
  });

  test('is quiet when its reader goes away', async () => {
    const running = spawn(BIN, ['--help'], { cwd: folder, env });
    running.stdout.destroy();
    const ended = once(running, 'exit');
    expect(await text(running.stderr)).toBe('');
    expect((await ended)[0]).toBe(0);
  });
});

describe('a process that goes on', () => {
  test('is ended by Ctrl-C with 130', async () => {
    const env = { PATH: process.env['PATH'], LEASEHOLD_URL: cli.url, LEASEHOLD_TOKEN: cli.token };
    // From the first event on, so that there is one to show.
    const { id } = await cli.client.enqueue({ queue: 'first', type: 'try', payload: 1 });
    const { events } = await cli.client.log.read({ limit: 1 });
    await cli.client.cancel(id);
    const since = events[0]?.cursor ?? '';
    const running = spawn(BIN, ['tail', '--since', since], { cwd: folder, env });
    const ended = once(running, 'exit');
    const seen = once(running.stdout, 'data');
    await seen;
    running.kill('SIGINT');
    expect((await ended)[0]).toBe(130);
  });
});

describe('every command', () => {
  /** `dead redrive`, `get`, … */
  function namesOf(command: Command, prefix: string): string[] {
    return command.commands.flatMap((inner) => {
      const name = `${prefix}${inner.name()}`;
      return inner.commands.length === 0 ? [name] : namesOf(inner, `${name} `);
    });
  }

  test('has help, and a row in docs/cli.md', async () => {
    const rows = (readIfPresent('docs/cli.md') ?? '')
      .split('\n')
      .filter((line) => line.startsWith('| `'));
    const names = namesOf(
      createProgram(cli.terminal(), false, () => undefined),
      '',
    );
    expect(names.length).toBeGreaterThan(20);
    const unlisted = names.filter((name) => {
      const [first = '', second = ''] = name.split(' ');
      return !rows.some((row) => row.includes(`\`${first}`) && row.includes(second));
    });
    expect(unlisted).toEqual([]);
    for (const name of names) {
      const { code, out } = await cli.run([...name.split(' '), '--help']);
      expect([name, code]).toEqual([name, 0]);
      expect(out).toContain(`Usage: leasehold ${name}`);
    }
  });

  test('ends with a code that docs/cli.md lists', () => {
    const page = readIfPresent('docs/cli.md') ?? '';
    const listed = [...page.matchAll(/^\| (\d+) +\|/gm)].map(([, code]) => Number(code));
    expect(listed).toEqual(Object.values(EXIT));
  });
});

describe('where the service is', () => {
  test('comes from the option before the environment', async () => {
    const env = { LEASEHOLD_URL: NOWHERE };
    expect(await cli.run(['list', '--url', `${cli.url}/`], { env })).toMatchObject({ code: 0 });
  });

  test('a token comes from a file before the environment', async () => {
    writeFileSync(join(folder, 'token'), `${cli.token}\n`);
    const env = { LEASEHOLD_TOKEN: 'wrong' };
    const refused = await cli.run(['list'], { env, folder });
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toContain('unauthenticated');
    const args = ['list', '--token-file', 'token'];
    expect(await cli.run(args, { env, folder })).toMatchObject({ code: 0 });
  });

  test.each([
    [{ LEASEHOLD_URL: 'http://jobs.example.com' }, /reads the token/],
    [{ LEASEHOLD_URL: 'jobs.example.com' }, /https:\/\/ URL/],
    [{ LEASEHOLD_URL: 'https://user:pass@jobs.example.com' }, /no user/],
    [{ LEASEHOLD_URL: 'https://jobs.example.com', LEASEHOLD_TOKEN: '' }, /LEASEHOLD_TOKEN/],
  ])('%j is refused before anything is sent', async (env, reason) => {
    const ran = await cli.run(['list'], { env });
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toMatch(reason);
  });

  test('no answer ends with 4 and says that nobody knows', async () => {
    const ran = await cli.run(['list', '--json'], { env: { LEASEHOLD_URL: NOWHERE } });
    expect(ran).toMatchObject({ code: 4, out: '' });
    expect(JSON.parse(ran.err)).toMatchObject({ error: { code: 'no_answer', status: 0 } });
  });
});

describe('--json', () => {
  test('gives wrong usage as JSON too', async () => {
    const ran = await cli.run(['list', '--limit', '0', '--json']);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(JSON.parse(ran.err)).toMatchObject({ error: { code: 'usage' } });
  });

  test('gives an empty list as a document', async () => {
    expect(await cli.json(['list', '--queue', 'nowhere'])).toEqual({ jobs: [], next_cursor: null });
  });
});

describe('token', () => {
  const AUTH_SECRET = 'a-secret-for-the-token-command-of-32-bytes';
  const wishes = ['token', '--scope', 'work read', '--actor', 'agent-7', '--queue', 'emails'];

  test('is made without asking the service', async () => {
    const before = cli.requests.length;
    const { code, out, err } = await cli.run(wishes, { env: { AUTH_SECRET } });
    expect([code, err, cli.requests.length]).toEqual([0, '', before]);
    const { payload } = await jwtVerify(out.trim(), new TextEncoder().encode(AUTH_SECRET));
    expect(payload).toMatchObject({ sub: 'agent-7', scope: 'work read', queues: ['emails'] });
    const made = await cli.json(wishes, { env: { AUTH_SECRET } });
    expect(made).toMatchObject({ actor: 'agent-7', scopes: ['work', 'read'], days: 30 });
  });

  test.each([
    [['token', '--actor', 'x'], /--scope/],
    [['token', '--scope', 'admin', '--actor', 'x'], /"admin" is no scope/],
    [[...wishes, '--days', '0'], /--days/],
  ])('%j is refused with the reason', async (args, reason) => {
    const ran = await cli.run(args, { env: { AUTH_SECRET } });
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toMatch(reason);
    expect(ran.err).not.toContain(AUTH_SECRET);
  });
});
