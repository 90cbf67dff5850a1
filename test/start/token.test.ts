import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { jwtVerify } from 'jose';
import { describe, expect, test } from 'vitest';

import { TOKEN_HELP } from '../../infra/token-arguments.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SECRET = 'a-secret-for-the-token-command-of-32-bytes';

interface Run {
  readonly status: number | null;
  readonly out: string;
  readonly error: string;
}

function token(args: readonly string[], env: Readonly<Record<string, string>> = {}): Run {
  const done = spawnSync(process.execPath, ['infra/token.ts', ...args], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], AUTH_SECRET: SECRET, ...env },
    encoding: 'utf8',
  });
  return { status: done.status, out: done.stdout, error: done.stderr };
}

async function claimsOf(text: string): Promise<Readonly<Record<string, unknown>>> {
  return (await jwtVerify(text, new TextEncoder().encode(SECRET))).payload;
}

describe('npm run token', () => {
  test('prints the token and nothing else', async () => {
    const { status, out, error } = token(
      '--scope work --scope read,enqueue --queue emails --actor agent-7 --days 2'
        .split(' ')
        .concat('--queue', 'a, b'),
    );
    expect([status, error]).toEqual([0, '']);
    expect(out).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    const { iat, exp, ...claims } = await claimsOf(out.trim());
    expect(claims).toEqual({
      sub: 'agent-7',
      scope: 'work read enqueue',
      queues: ['emails', 'a, b'],
    });
    expect(Number(exp) - Number(iat)).toBe(2 * 86_400);
  });

  test('is for all queues and 30 days unless it is told otherwise', async () => {
    const { iat, exp, ...claims } = await claimsOf(
      token(['--scope', 'operate', '--actor', 'maria']).out.trim(),
    );
    expect(claims).toEqual({ sub: 'maria', scope: 'operate' });
    expect(Number(exp) - Number(iat)).toBe(30 * 86_400);
  });

  test('has issuer and audience where the deployment asks for them', async () => {
    const env = { AUTH_ISSUER: 'https://login.example', AUTH_AUDIENCE: 'jobs' };
    const { out } = token(['--scope', 'read', '--actor', 'x'], env);
    expect(await claimsOf(out.trim())).toMatchObject({ iss: env.AUTH_ISSUER, aud: 'jobs' });
  });

  test('helps', () => {
    expect(token(['--help'])).toEqual({ status: 0, out: `${TOKEN_HELP}\n`, error: '' });
  });

  test.each([
    [[], /--scope/],
    [['--scope', 'admin', '--actor', 'x'], /"admin" is no scope/],
    [['--scope', 'read'], /--actor/],
    [['--scope', 'read', '--actor', ' x'], /--actor/],
    [['--scope', 'read', '--actor', 'x', '--queue', '..'], /--queue/],
    [['--scope', 'read', '--actor', 'x', '--days', '0'], /--days/],
    [['--scope', 'read', '--actor', 'x', '--days', '3651'], /--days/],
    [['--scope', 'read', '--actor', 'x', '--colour', 'red'], /--colour/],
  ])('%j is refused with the reason, and prints no token', (args, reason) => {
    const { status, out, error } = token(args);
    expect(status).toBe(2);
    expect(out).toBe('');
    expect(error).toMatch(reason);
    expect(error).not.toContain(SECRET);
  });

  test('refuses a secret that the deployment would refuse', () => {
    const { status, error } = token(['--scope', 'read', '--actor', 'x'], { AUTH_SECRET: 'short' });
    expect([status, error]).toEqual([2, 'AUTH_SECRET must be at least 32 bytes.\n']);
  });
});
