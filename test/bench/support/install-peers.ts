import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const BENCH = fileURLToPath(new URL('..', import.meta.url));

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string }>>;
}

/** Runs `npm ci` for the peers when they are not there in the versions of the lock file. Their scripts do not run. */
export function installPeers(print: (line: string) => void): void {
  const installed = packages(join(BENCH, 'node_modules', '.package-lock.json'));
  const missing = Object.entries(packages(join(BENCH, 'package-lock.json'))).some(
    ([path, { version }]) => path !== '' && installed[path]?.version !== version,
  );
  if (!missing) return;
  print('Installing the peers of the benchmarks: npm ci in test/bench');
  const done = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: BENCH,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (done.status !== 0) throw new Error('npm ci in test/bench failed; nothing was measured.');
}

function packages(lockFile: string): Lock['packages'] {
  if (!existsSync(lockFile)) return {};
  return (JSON.parse(readFileSync(lockFile, 'utf8')) as Lock).packages;
}
