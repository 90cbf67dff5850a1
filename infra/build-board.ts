/**
 * `npm run board`: builds the pages of the board, functions/board/client, into functions/board/assets. What it makes is
 * committed; the same sources give the same bytes.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { MAX_BOARD_BYTES } from '../shared/limits.ts';
import { ROOT } from './local/state-folder.ts';

const CLIENT = 'functions/board/client';
const ASSETS = join(ROOT, 'functions/board/assets');
const ENTRIES = [
  { in: `${CLIENT}/main.tsx`, out: 'board' },
  { in: `${CLIENT}/board.css`, out: 'board' },
];
/** What every browser of the last three years or so runs. */
const TARGET = ['chrome115', 'firefox115', 'safari17'];

export interface BoardFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/**
 * Bundles script and style, without writing them.
 *
 * @throws with esbuild's report when the sources do not bundle
 */
export async function bundleBoard(): Promise<readonly BoardFile[]> {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: ENTRIES,
    outdir: ASSETS,
    bundle: true,
    write: false,
    format: 'esm',
    target: TARGET,
    minify: true,
    legalComments: 'eof',
    jsx: 'automatic',
    jsxImportSource: 'hono/jsx/dom',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'silent',
  });
  return outputFiles.map(({ path, contents }) => ({ name: basename(path), bytes: contents }));
}

/** What the files weigh on the wire, all together. */
export function compressedBytes(files: readonly BoardFile[]): number {
  return files.reduce((sum, { bytes }) => sum + gzipSync(bytes, { level: 9 }).length, 0);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = await bundleBoard();
  mkdirSync(ASSETS, { recursive: true });
  for (const { name, bytes } of files) writeFileSync(join(ASSETS, name), bytes);
  const weight = compressedBytes(files);
  console.log(
    `${files.map(({ name }) => name).join(', ')}: ${weight} of ${MAX_BOARD_BYTES} bytes, compressed`,
  );
  if (weight > MAX_BOARD_BYTES) process.exitCode = 1;
}
