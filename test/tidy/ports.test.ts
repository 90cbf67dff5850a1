/** Time, randomness and the environment come through ports: then a test can hold them, and no two clocks disagree. */
import { expect, test } from 'vitest';
import { sourceFiles } from './source-files.ts';
import { usesOf } from './syntax.ts';

const BANNED: Readonly<Record<string, string>> = {
  'Date.now': 'the Clock port (or the database clock)',
  'new Date()': 'the Clock port (or the database clock)',
  'performance.now': 'the Clock port',
  'Math.random': 'the Random port',
  'crypto.randomUUID': 'the Ids port',
  'crypto.getRandomValues': 'the Random or Ids port',
  'process.env': 'config that arrives as a value',
  'setTimeout()': 'the Timer port',
  'setInterval()': 'the Timer port',
};

/** The files that implement those ports. */
const IMPLEMENTS_PORTS = new Set([
  'shared/web-ports.ts',
  'functions/lambda/environment.ts',
  'functions/board/client/browser-ports.ts',
]);

test('shared/ and functions/ reach the outside through ports', () => {
  const wrong = [...sourceFiles('shared', ['.ts']), ...sourceFiles('functions', ['.ts', '.tsx'])]
    .filter(({ path }) => !IMPLEMENTS_PORTS.has(path))
    .flatMap((file) =>
      [...usesOf(file)]
        .map((use) => use.replace(/^globalThis\./, ''))
        .flatMap((use) => {
          // Handlers are the user's own: they may wait.
          if (use === 'setTimeout()' && file.path.startsWith('functions/handlers/')) return [];
          const instead = BANNED[use];
          return instead === undefined ? [] : [`${file.path}: ${use}; use ${instead}`];
        }),
    );
  expect(wrong).toEqual([]);
});
