import { expect, test } from 'vitest';
import { sourceFiles } from './source-files.ts';

/** A listener needs a connection that stays open, and then the database never sleeps. */
const LISTENS = /\blisten\s+["\w]|\bnotify\s+["\w]+\s*[,;']|\bpg_notify\b/i;

test('C.4 nothing listens: wake-ups are pokes and the schedule', () => {
  const wrong = ['migrations', 'shared', 'functions']
    .flatMap((folder) => sourceFiles(folder, ['.sql', '.ts', '.tsx']))
    .filter(({ text }) => LISTENS.test(text))
    .map(({ path }) => path);
  expect(wrong).toEqual([]);
});
