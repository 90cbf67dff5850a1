/** docs/requirements.md says which test proves which requirement; the titles of the tests have to agree. */
import { describe, expect, test } from 'vitest';
import { readIfPresent, sourceFiles } from './source-files.ts';
import { titlesOf } from './syntax.ts';

/** How many requirements each group has: S1.1 … S1.19, C.1 … C.6. */
const GROUPS: readonly (readonly [group: string, count: number])[] = [
  ['S1', 19],
  ['S2', 10],
  ['S3', 7],
  ['S4', 10],
  ['C', 6],
  ['B', 7],
];
const IDS = GROUPS.flatMap(([group, count]) =>
  Array.from({ length: count }, (_, index) => `${group}.${index + 1}`),
);
const ID = /\b(?:S[1-4]|C|B)\.\d+\b/g;
const ROW = /^\|\s*((?:S[1-4]|C|B)\.\d+)\s*\|([^|]+)\|([^|]+)\|\s*$/;

interface Row {
  readonly id: string;
  readonly sentence: string;
  /** The test files that it names. */
  readonly files: readonly string[];
  readonly open: boolean;
}

const rows: Row[] = (readIfPresent('docs/requirements.md') ?? '').split('\n').flatMap((line) => {
  const [, id, sentence, proof] = ROW.exec(line) ?? [];
  if (id === undefined || sentence === undefined || proof === undefined) return [];
  const files = proof.match(/test\/[\w/.-]+\.test\.ts/g) ?? [];
  return [{ id, sentence: sentence.trim(), files, open: proof.trim() === 'open' }];
});

const idsByFile = new Map(
  sourceFiles('test', ['.test.ts']).map((file) => [
    file.path,
    new Set(titlesOf(file).flatMap((title) => title.match(ID) ?? [])),
  ]),
);

describe('docs/requirements.md', () => {
  test('has every requirement once', () => {
    expect(rows.map(({ id }) => id).sort()).toEqual([...IDS].sort());
  });

  test('has a sentence for each', () => {
    expect(rows.filter(({ sentence }) => sentence.length < 10)).toEqual([]);
  });

  test('each row names test files or says open', () => {
    expect(rows.filter(({ files, open }) => open !== (files.length === 0))).toEqual([]);
  });

  test('a file that a row names has a test with that id in its title', () => {
    const wrong = rows.flatMap(({ id, files }) =>
      files.filter((file) => !idsByFile.get(file)?.has(id)).map((file) => `${id}: ${file}`),
    );
    expect(wrong).toEqual([]);
  });

  test('an open row has no test that names it', () => {
    const wrong = rows
      .filter(({ open }) => open)
      .flatMap(({ id }) =>
        [...idsByFile].filter(([, ids]) => ids.has(id)).map(([file]) => `${id}: ${file}`),
      );
    expect(wrong).toEqual([]);
  });

  test('no test title names a requirement that does not exist', () => {
    const known = new Set(IDS);
    const wrong = [...idsByFile].flatMap(([file, ids]) =>
      [...ids].filter((id) => !known.has(id)).map((id) => `${file}: ${id}`),
    );
    expect(wrong).toEqual([]);
  });
});
