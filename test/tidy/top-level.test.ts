import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './source-files.ts';

const ALLOWED = new Set([
  'functions',
  'shared',
  'migrations',
  'infra',
  'test',
  'docs',
  'wrangler.toml',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
]);

test('C.5 the top level holds the named folders and files, and dotfiles', () => {
  const strangers = topLevel().filter((name) => !name.startsWith('.') && !ALLOWED.has(name));
  expect(strangers).toEqual([]);
});

/** What belongs to the project: git knows; without git, everything but what npm made. */
function topLevel(): string[] {
  if (!existsSync(join(ROOT, '.git'))) {
    return readdirSync(ROOT).filter((name) => name !== 'node_modules');
  }
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return [...new Set(listed.split('\n').map((path) => path.split('/')[0] ?? ''))].filter(
    (name) => name !== '',
  );
}
