// Runs a script of this project as a newcomer would want it: with the packages installed and on the Node that the
// project pins. Plain JavaScript without imports from npm, because it is what runs before anything is installed, on
// whatever Node (20 or later) the machine has.
//
//   node infra/local/with-setup.mjs <script> [arguments]

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const OLDEST_NODE = 20;
const FORWARDED = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);
const PARENT_CHECK_MS = 500;

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const modules = join(root, 'node_modules');
const node = join(modules, '.bin', process.platform === 'win32' ? 'node.cmd' : 'node');

const [script, ...args] = process.argv.slice(2);
if (script === undefined) stop('Usage: node infra/local/with-setup.mjs <script> [arguments]');
if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE) {
  stop(`Node ${OLDEST_NODE} or later is needed to begin; this is ${process.version}.`);
}
const reason = whyInstall();
if (reason !== undefined) install(reason);
run(join(root, script), args);

/** Compares what npm says it installed with the lock file: file times lie after a copy, a clone or a checkout. */
function whyInstall() {
  const installedFile = join(modules, '.package-lock.json');
  if (!existsSync(installedFile)) return 'node_modules is missing';
  if (!existsSync(node)) return 'the pinned Node is missing';
  const wanted = packagesOf(join(root, 'package-lock.json'));
  const installed = packagesOf(installedFile);
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '') continue;
    const present = installed[path];
    if (present === undefined && entry.optional) continue; // made for another platform
    if (present?.version !== entry.version) return `${path} differs from package-lock.json`;
  }
  return undefined;
}

/** @returns {Record<string, { version: string, optional?: boolean }>} */
function packagesOf(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages;
}

function install(why) {
  console.error(`Installing packages (${why}): npm ci`);
  const npm = process.env.npm_execpath;
  const [command, first] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []];
  const done = spawnSync(
    command,
    [...first, 'ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'],
    {
      cwd: root,
      // npm's report belongs to stderr: stdout is the script's own.
      stdio: ['ignore', 2, 2],
      shell: process.platform === 'win32',
    },
  );
  if (done.status !== 0) {
    stop(
      `npm ci failed (${done.error?.message ?? `exit code ${done.status}`}). Nothing was started.`,
    );
  }
  if (!existsSync(node)) {
    stop(
      'npm ci did not install the pinned Node: are install scripts switched off (ignore-scripts)?',
    );
  }
}

function run(file, rest) {
  const child = spawn(node, [file, ...rest], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
    env: { ...process.env, PATH: `${join(modules, '.bin')}${delimiter}${process.env.PATH ?? ''}` },
  });
  for (const signal of FORWARDED) process.on(signal, () => void child.kill(signal));
  // npm passes a signal to its shell alone, which dies of it without telling us.
  const parent = process.ppid;
  if (process.env.npm_lifecycle_event !== undefined) {
    setInterval(() => {
      if (process.ppid !== parent) child.kill('SIGTERM');
    }, PARENT_CHECK_MS).unref();
  }
  child.on('error', (error) => stop(`${node} does not start: ${error.message}`));
  child.on('exit', (code, signal) => {
    process.exit(signal ? 128 + constants.signals[signal] : (code ?? 1));
  });
}

function stop(message) {
  console.error(message);
  process.exit(1);
}
