import { expect, test } from 'vitest';
import { ERROR_CODES } from '../../shared/errors.ts';
import { readIfPresent } from './source-files.ts';

test('docs/errors.md has every error code, and no code that does not exist', () => {
  const page = readIfPresent('docs/errors.md') ?? '';
  // Each code opens its own row or heading: | `not_found` | … or ## `not_found`
  const listed = [...page.matchAll(/^(?:\|\s*|#+\s*)`([a-z_]+)`/gm)].map(([, code]) => code);
  expect(new Set(listed)).toEqual(new Set<string | undefined>(ERROR_CODES));
});
