import { expect, test } from 'vitest';

import { parseConfig } from '../../shared/config.ts';
import { LeaseholdError } from '../../shared/errors.ts';

const REST = {
  DATABASE_URL: 'postgres://app:hunter2@ep-x.eu.aws.neon.tech/jobs',
  AUTH_SECRET: 'a-secret-that-has-thirty-two-bytes',
  POKE_SECRETS: `whsec_${btoa('a key of thirty-two bytes or so!')}`,
};
const PROXY = {
  SIGN_IN_PROXY_HEADER: 'Cf-Access-Jwt-Assertion',
  SIGN_IN_PROXY_JWKS_URL: 'https://team.example/certs',
  SIGN_IN_PROXY_AUDIENCE: 'a1b2',
};

function faults(record: Record<string, unknown>): string[] {
  try {
    parseConfig({ ...REST, ...record });
  } catch (error) {
    if (error instanceof LeaseholdError) return error.problems.map(({ path }) => path);
  }
  return [];
}

test('without its header there is no proxy, and people behind one may read', () => {
  expect(parseConfig(REST).signInProxy).toBeUndefined();
  expect(parseConfig({ ...REST, ...PROXY }).signInProxy).toEqual({
    header: 'cf-access-jwt-assertion',
    jwksUrl: new URL('https://team.example/certs'),
    audience: 'a1b2',
    issuer: undefined,
    scopes: ['read'],
  });
});

test('scopes and issuer as set', () => {
  const others = { SIGN_IN_PROXY_SCOPES: 'read  operate', SIGN_IN_PROXY_ISSUER: 'https://t' };
  expect(parseConfig({ ...REST, ...PROXY, ...others }).signInProxy).toMatchObject({
    scopes: ['read', 'operate'],
    issuer: 'https://t',
  });
});

test.each([
  ['SIGN_IN_PROXY_HEADER', 'authorization'],
  ['SIGN_IN_PROXY_HEADER', 'Cookie'],
  ['SIGN_IN_PROXY_HEADER', 'no header'],
  ['SIGN_IN_PROXY_JWKS_URL', 'http://team.example/certs'],
  ['SIGN_IN_PROXY_JWKS_URL', 'https://user@team.example/certs'],
  ['SIGN_IN_PROXY_JWKS_URL', undefined],
  ['SIGN_IN_PROXY_AUDIENCE', undefined],
  ['SIGN_IN_PROXY_AUDIENCE', 'a'.repeat(1001)],
  ['SIGN_IN_PROXY_SCOPES', 'read everything'],
  ['SIGN_IN_PROXY_SCOPES', ' '],
])('%s cannot be %s', (name, value) => {
  expect(faults({ ...PROXY, [name]: value })).toEqual([name]);
});

test('the rest of it needs the header', () => {
  const { SIGN_IN_PROXY_HEADER: _, ...rest } = { ...PROXY, SIGN_IN_PROXY_SCOPES: 'read' };
  expect(faults(rest)).toEqual(Object.keys(rest));
});
