import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What tools make; not ours to judge. */
const MADE = new Set(['node_modules', '.git', '.wrangler', '.leasehold', 'dist', 'coverage']);

export interface SourceFile {
  /** From the top of the project, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** Every file under `folder` (of the project) whose name ends in one of `endings`. */
export function sourceFiles(folder: string, endings: readonly string[]): SourceFile[] {
  return walk(join(ROOT, folder))
    .filter((path) => endings.some((ending) => path.endsWith(ending)))
    .map((path) => ({
      path: relative(ROOT, path).replaceAll('\\', '/'),
      text: readFileSync(path, 'utf8'),
    }))
    .sort((left, right) => left.path.localeCompare(right.path));
}

/** The text of one file, or `undefined` when it is not there. */
export function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(join(ROOT, path), 'utf8');
  } catch {
    return undefined;
  }
}

function walk(folder: string): string[] {
  let entries;
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
  return entries
    .filter(({ name }) => !MADE.has(name))
    .flatMap((entry) =>
      entry.isDirectory() ? walk(join(folder, entry.name)) : [join(folder, entry.name)],
    );
}
