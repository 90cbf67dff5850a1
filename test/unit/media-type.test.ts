import { expect, test } from 'vitest';

import { isJsonMediaType } from '../../shared/media-type.ts';

test.each([
  'application/json',
  'application/json; charset=utf-8',
  'APPLICATION/JSON;charset="UTF-8"',
  'application/cloudevents+json; charset=utf-8; profile=x',
])('case R19 %s is JSON', (type) => {
  expect(isJsonMediaType(type)).toBe(true);
});

test.each([
  undefined,
  '',
  'text/plain',
  'text/json',
  'application/jsonp',
  'application/x-www-form-urlencoded',
  'application/json; charset=utf-16',
  'application/json, text/plain',
])('%s is not', (type) => {
  expect(isJsonMediaType(type)).toBe(false);
});
