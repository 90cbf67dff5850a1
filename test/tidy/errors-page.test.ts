import { expect, test } from 'vitest';
import { ERROR_CODES } from '../../shared/errors.ts';
import { readIfPresent } from './source-files.ts';

test('docs/errors.md lists every error code', () => {
  const page = readIfPresent('docs/errors.md') ?? '';
  // Each code opens its own row or heading: | `not_found` | … or ## `not_found`
  const listed = new Set(
    [...page.matchAll(/^(?:\|\s*|#+\s*)`([a-z_]+)`/gm)].map(([, code]) => code),
  );
  expect(ERROR_CODES.filter((code) => !listed.has(code))).toEqual([]);
});
