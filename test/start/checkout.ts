import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NOT_COPIED = new Set(['node_modules', '.git', '.leasehold', '.wrangler', 'dist']);

export interface Checkout {
  readonly path: string;
  remove(): void;
}

/** A copy of this tree, packages installed, at a path with a space in it. */
export function copyCheckout(): Checkout {
  const path = mkdtempSync(join(realpathSync(tmpdir()), 'leasehold start '));
  chmodSync(path, 0o755);
  cpSync(ROOT, path, {
    recursive: true,
    filter: (source) => !NOT_COPIED.has(relative(ROOT, source)),
  });
  const packages = join(ROOT, 'node_modules');
  // Hard links are as good as a copy and cost nothing; across file systems a symbolic link has to do.
  const linked = spawnSync('cp', ['-al', packages, join(path, 'node_modules')]);
  if (linked.status !== 0) {
    rmSync(join(path, 'node_modules'), { recursive: true, force: true });
    symlinkSync(packages, join(path, 'node_modules'));
  }
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** The environment of a newcomer's shell: no pinned Node on the path, nothing of npm or vitest. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(?:npm_|VITEST|NODE_|DATABASE_URL$|PG)/i.test(name),
  );
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return {
    ...Object.fromEntries(kept),
    PATH: folders.filter((folder) => !folder.includes('node_modules')).join(delimiter),
  };
}
