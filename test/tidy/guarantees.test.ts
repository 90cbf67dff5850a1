/** docs/guarantees.md names a test for every promise; what it names has to be there. */
import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readIfPresent, sourceFiles } from './source-files.ts';

const PAGE = 'docs/guarantees.md';
const EXPERIMENTS = 'test/prove/main.ts';
const TEST_FILE = /\btest\/[\w/.-]+\.test\.ts\b/g;
const PROVE = /npm run prove -- ([a-z][a-z-]*)/g;
/** A table whose last column is the proof. */
const PROOF_HEAD = /^\|.*\|\s*proof\s*\|$/;

const page = readIfPresent(PAGE) ?? '';

/** The rows of all tables of proofs. */
const rows = page.split(/\n{2,}/).flatMap((block) => {
  const [head = '', , ...body] = block.trim().split('\n');
  return PROOF_HEAD.test(head) ? body : [];
});

/** Names that `npm run prove` knows: those of the experiments in its list, each in the file it is imported from. */
function experimentNames(): Set<string> {
  const main = readIfPresent(EXPERIMENTS) ?? '';
  const listed = /EXPERIMENTS: readonly Experiment\[\] = \[([^\]]*)\]/.exec(main)?.[1] ?? '';
  const names = listed.match(/\w+/g) ?? [];
  return new Set(
    names.flatMap((name) => {
      const from = new RegExp(`import \\{ ${name} \\} from '([^']+)'`).exec(main)?.[1] ?? '';
      const text = readIfPresent(posix.join(posix.dirname(EXPERIMENTS), from)) ?? '';
      return /^ {2}name: '([a-z-]+)'/m.exec(text)?.[1] ?? [];
    }),
  );
}

describe('docs/guarantees.md', () => {
  test('names only tests that exist', () => {
    const files = new Set(sourceFiles('test', ['.test.ts']).map(({ path }) => path));
    const named = page.match(TEST_FILE) ?? [];
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((file) => !files.has(file))).toEqual([]);
  });

  test('names only experiments that exist', () => {
    const known = experimentNames();
    expect(known).toContain('races');
    const named = [...page.matchAll(PROVE)].map(([, name]) => name);
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((name) => name === undefined || !known.has(name))).toEqual([]);
  });

  test('has a proof for every promise', () => {
    expect(rows.length).toBeGreaterThan(0);
    const bare = rows.filter((row) => {
      const proof = row.split('|').at(-2) ?? '';
      return proof.match(TEST_FILE) === null && proof.match(PROVE) === null;
    });
    expect(bare).toEqual([]);
  });

  test.each(['README.md', 'ARCHITECTURE.md'])('is linked from %s', (from) => {
    expect(readIfPresent(from)).toContain('](docs/guarantees.md)');
  });
});
