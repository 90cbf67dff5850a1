import { describe, expect, test } from 'vitest';
import { sourceFiles } from './source-files.ts';

const MAX_LINES = 300;

/** Files that were longer when the rule came, with the length they may keep. Numbers here only go down. */
const KNOWN_LONG: Readonly<Record<string, number>> = {};

describe('a file holds one concept', () => {
  const files = ['functions', 'shared', 'migrations', 'infra', 'test'].flatMap((folder) =>
    sourceFiles(folder, ['.ts', '.tsx', '.css', '.mjs', '.sql']),
  );

  test(`no file is longer than ${MAX_LINES} lines`, () => {
    const long = files
      .map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length }))
      .filter(({ path, lines }) => lines > (KNOWN_LONG[path] ?? MAX_LINES))
      .map(({ path, lines }) => `${path}: ${lines} lines; look for a second concept in it`);
    expect(long).toEqual([]);
  });
});
