/** Every promise has a test that names it. */
import { basename } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sourceFiles } from './source-files.ts';
import { importsOf } from './syntax.ts';

/** An operation calls a routine; the files beside it hold the shapes that operations share. */
const CALLS_ROUTINE = /\bleasehold\.\w+\(/;

const tests = sourceFiles('test', ['.test.ts']);
const imported = new Set(
  tests.flatMap((file) => importsOf(file).map(({ from }) => from.split('/').slice(-3).join('/'))),
);

describe('each operation has a test that imports it', () => {
  const operations = ['queue', 'outbox'].flatMap((room) => sourceFiles(`shared/${room}`, ['.ts']));
  test.each(operations.filter(({ text }) => CALLS_ROUTINE.test(text)).map(({ path }) => path))(
    '%s',
    (path) => {
      expect(imported).toContain(path);
    },
  );
});

describe('each routine has a test that calls it, imports its operation or is named for it', () => {
  const routines = sourceFiles('migrations/routines', ['.sql']);
  test.each(routines.map(({ path }) => basename(path, '.sql')))('%s', (name) => {
    const words = name.replaceAll('_', '-');
    const called = new RegExp(`leasehold\\.${name}\\b`);
    const found =
      ['queue', 'outbox'].some((room) => imported.has(`shared/${room}/${words}.ts`)) ||
      tests.some(({ path, text }) => basename(path).startsWith(words) || called.test(text));
    expect(found, `no test names leasehold.${name}`).toBe(true);
  });
});
