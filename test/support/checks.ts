/** The checks that need no database: types, lint, format. Each counts as one test of `npm test`. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Each has its own compiler settings: what a folder may use differs. */
const TYPED_FOLDERS = [
  'shared',
  'functions',
  'functions/lambda',
  'functions/board/client',
  'infra',
  'test',
  'test/browser',
  'test/runtime/worker',
  'docs/examples',
];

interface Check {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

const CHECKS: readonly Check[] = [
  ...TYPED_FOLDERS.filter((folder) => existsSync(`${ROOT}/${folder}`)).map((folder) => ({
    name: `types in ${folder}/`,
    command: 'tsc',
    args: ['-p', folder],
  })),
  { name: 'lint', command: 'oxlint', args: [] },
  { name: 'format', command: 'prettier', args: ['--check', '--log-level', 'warn', '.'] },
];

export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Runs every check and prints one line for each, with the tool's own report where it failed. */
export function runChecks(print: (text: string) => void): Tally {
  let failed = 0;
  for (const check of CHECKS) {
    const done = spawnSync(`${ROOT}/node_modules/.bin/${check.command}`, check.args, {
      cwd: ROOT,
      encoding: 'utf8',
    });
    const ok = done.status === 0;
    print(`${ok ? 'ok  ' : 'FAIL'} ${check.name}`);
    if (ok) continue;
    failed += 1;
    print(`${done.stdout ?? ''}${done.stderr ?? ''}${done.error?.message ?? ''}`);
  }
  return { passed: CHECKS.length - failed, failed, skipped: 0 };
}
