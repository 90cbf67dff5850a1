import { describe, expect, test } from 'vitest';
import { sourceFiles } from './source-files.ts';

const SUPPRESSION = /(?:oxlint|eslint)-disable\S*|@ts-expect-error|prettier-ignore/;
/** A suppression, then its reason after a dash or a colon. */
const WITH_REASON = new RegExp(`(?:${SUPPRESSION.source})[^\\n]*?(?:--|:)\\s+\\S+\\s+\\S+`);
const REMINDER = /\b(?:TODO|FIXME|XXX|HACK)\b/;

describe('comments', () => {
  const lines = ['functions', 'shared', 'migrations', 'infra', 'test', '.ci', 'docs']
    .flatMap((folder) => sourceFiles(folder, ['.ts', '.tsx', '.mjs', '.sql', '.md', 'run']))
    .filter(({ path }) => path !== 'test/tidy/comments.test.ts')
    .flatMap(({ path, text }) =>
      text.split('\n').map((line, index) => ({ at: `${path}:${index + 1}`, line })),
    );

  test('every suppressed rule carries its reason', () => {
    const bare = lines.filter(({ line }) => SUPPRESSION.test(line) && !WITH_REASON.test(line));
    expect(bare.map(({ at }) => at)).toEqual([]);
  });

  test('no reminders are left behind: an issue is the place', () => {
    expect(lines.filter(({ line }) => REMINDER.test(line)).map(({ at }) => at)).toEqual([]);
  });
});
