/**
 * Keeps a release for the upgrade proof: its migrations and routines, its own migrator, its Worker and its library, built by
 * its own sources. Needs the history of the repository; the proof itself does not.
 *
 * Usage: `node test/prove/upgrade/archive-release.ts <commit>`; commit what it writes.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, transform } from 'esbuild';
import type { WorkerBuild } from '../../../infra/local/build-worker.ts';
import { openStateFolder, ROOT } from '../../../infra/local/state-folder.ts';
import { LIBRARY, LIBRARY_FILE, MIGRATOR_FILE, writeArchive } from './previous-release.ts';

/** What the clone needs of the tree besides: the sources, and how they are built. */
const BUILT_FROM = [
  'functions',
  'shared',
  'infra',
  'migrations',
  'package.json',
  'tsconfig.json',
  'wrangler.toml',
];

const [commit] = process.argv.slice(2);
if (commit === undefined || !/^[0-9a-f]{7,40}$/.test(commit)) {
  console.error('Usage: node test/prove/upgrade/archive-release.ts <commit>');
  process.exit(2);
}
const full = git('rev-parse', '--verify', `${commit}^{commit}`).toString().trim();
const tree = mkdtempSync(join(openStateFolder().path, 'release-'));
try {
  execFileSync('tar', ['-x', '-C', tree], { input: git('archive', full, ...BUILT_FROM) });
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'), 'dir');
  mkdirSync(join(tree, 'built'));
  const worker = await builtWorker();
  writeArchive({
    commit: full,
    worker,
    files: Object.fromEntries([
      ...sqlFiles(),
      [MIGRATOR_FILE, readFileSync(join(tree, MIGRATOR_FILE), 'utf8')],
      [LIBRARY_FILE, await builtLibrary()],
    ]),
  });
} finally {
  rmSync(tree, { recursive: true, force: true });
}

async function builtWorker(): Promise<Omit<WorkerBuild, 'assets'>> {
  const builder = (await import(
    pathToFileURL(join(tree, 'infra/local/build-worker.ts')).href
  )) as typeof import('../../../infra/local/build-worker.ts');
  const built = await builder.buildWorker(join(tree, 'built'));
  const { code } = await transform(built.code, { minify: true, loader: 'js' });
  const { name, compatibilityDate, compatibilityFlags, vars, services, durableObjects } = built;
  return { name, compatibilityDate, compatibilityFlags, vars, services, durableObjects, code };
}

async function builtLibrary(): Promise<string> {
  const built = await build({
    stdin: {
      contents: Object.entries(LIBRARY)
        .map(([name, file]) => `export { ${name} } from './${file}';`)
        .join('\n'),
      resolveDir: tree,
    },
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    minify: true,
    write: false,
  });
  return built.outputFiles[0]?.text ?? '';
}

function sqlFiles(): [path: string, text: string][] {
  return ['migrations', 'migrations/routines'].flatMap((folder) =>
    readdirSync(join(tree, folder))
      .filter((file) => file.endsWith('.sql'))
      .map((file): [string, string] => [
        `${folder}/${file}`,
        readFileSync(join(tree, folder, file), 'utf8'),
      ]),
  );
}

function git(...args: string[]): Buffer {
  return execFileSync('git', args, { cwd: ROOT, maxBuffer: 256 * 1024 * 1024 });
}
