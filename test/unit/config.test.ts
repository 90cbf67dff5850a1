import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';

import { parseConfig } from '../../shared/config.ts';
import { LeaseholdError } from '../../shared/errors.ts';
import { MAX_SAFETY_SWEEP_MINUTES } from '../../shared/limits.ts';

const GOOD = {
  DATABASE_URL: 'postgres://app:hunter2@ep-x.eu.aws.neon.tech/jobs',
  AUTH_SECRET: 'a-secret-that-has-thirty-two-bytes',
  POKE_SECRETS: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
};

function faults(record: Record<string, unknown>): LeaseholdError {
  try {
    parseConfig(record);
  } catch (error) {
    if (error instanceof LeaseholdError) return error;
  }
  throw new Error('was accepted');
}

test('defaults are on, and other variables are left alone', () => {
  const config = parseConfig({
    ...GOOD,
    SELF: { fetch: () => undefined },
    PATH: '/bin',
    POKE_URL: '',
  });
  expect(config).toMatchObject({ insertPokes: true, chainPokes: true, pokeUrl: undefined });
  expect(config.databaseUrl.reveal()).toBe(GOOD.DATABASE_URL);
  expect(Object.isFrozen(config)).toBe(true);
});

test('two poke keys are kept in order', () => {
  const second = `whsec_${btoa('another key of thirty-two bytes!')}`;
  const config = parseConfig({ ...GOOD, POKE_SECRETS: `${GOOD.POKE_SECRETS} ${second}` });
  expect(config.pokeSecrets.map((key) => key.reveal())).toEqual([GOOD.POKE_SECRETS, second]);
});

test('all faults are told at once', () => {
  const { code, problems } = faults({ INSERT_POKES: 'yes', POKE_URL: 'ftp://x' });
  expect(code).toBe('config_invalid');
  expect(problems.map(({ path }) => path)).toEqual([
    'DATABASE_URL',
    'AUTH_SECRET',
    'POKE_SECRETS',
    'INSERT_POKES',
    'POKE_URL',
  ]);
});

describe('secrets are never printed', () => {
  test.each([
    ['DATABASE_URL', 'postgres://app:hunter2@ep-x.eu.aws.neon.tech'],
    ['DATABASE_URL', 'mysql://app:hunter2@host/db'],
    ['DATABASE_URL', 'postgres://app:hunter2@bad host/db'],
    ['AUTH_SECRET', 'hunter2'],
    ['POKE_SECRETS', 'whsec_hunter2'],
    ['POKE_SECRETS', 'hunter2 hunter2 hunter2'],
    ['POKE_URL', 'https://app:hunter2@host'],
  ])('by a fault of %s (%s)', (name, value) => {
    const error = faults({ ...GOOD, [name]: value });
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('hunter2');
  });

  test('by the config itself', () => {
    const config = parseConfig(GOOD);
    const shown = inspect(config, { depth: 10, showHidden: true }) + JSON.stringify(config);
    for (const secret of Object.values(GOOD)) expect(shown).not.toContain(secret);
    expect(String(config.authSecret)).toBe('[redacted]');
  });
});

describe('pushes', () => {
  const second = `whsec_${btoa('another key of thirty-two bytes!')}`;

  test('are off until there is a key, and go to public https alone', () => {
    const config = parseConfig(GOOD);
    expect(config.pushSecrets).toEqual([]);
    expect(config.pushTargets).toEqual({ allowHttp: false });
  });

  test('one or two keys, in order', () => {
    const config = parseConfig({ ...GOOD, PUSH_SECRETS: `${GOOD.POKE_SECRETS} ${second}` });
    expect(config.pushSecrets.map((key) => key.reveal())).toEqual([GOOD.POKE_SECRETS, second]);
    expect(JSON.stringify(config)).not.toContain(second);
  });

  test('hosts are kept as a URL has them', () => {
    const config = parseConfig({
      ...GOOD,
      PUSH_ALLOW_HTTP: 'on',
      PUSH_ALLOWED_HOSTS: ' Hooks.Example.com  127.0.0.1:8080 0x7f.1 [0:0::1] [::1]:80 ',
    });
    expect(config.pushTargets).toEqual({
      allowHttp: true,
      allowedHosts: ['hooks.example.com', '127.0.0.1:8080', '127.0.0.1', '[::1]', '[::1]:80'],
    });
  });

  test.each([
    ['PUSH_SECRETS', 'hunter2'],
    ['PUSH_SECRETS', `${second} ${second} ${second}`],
    ['PUSH_ALLOW_HTTP', 'yes'],
    ['PUSH_ALLOWED_HOSTS', 'https://example.com'],
    ['PUSH_ALLOWED_HOSTS', 'example.com/path'],
    ['PUSH_ALLOWED_HOSTS', 'user@example.com'],
    ['PUSH_ALLOWED_HOSTS', 'example.com:port'],
    ['PUSH_ALLOWED_HOSTS', 'a b[ c'],
  ])('%s must not be %s', (name, value) => {
    const { problems } = faults({ ...GOOD, [name]: value });
    expect(problems.map(({ path }) => path)).toEqual([name]);
  });
});

describe('B.1 the wake clock', () => {
  test('is on, and sweeps each hour', () => {
    expect(parseConfig(GOOD)).toMatchObject({ timedWakes: true, safetySweepMs: 3_600_000 });
    expect(parseConfig({ ...GOOD, TIMED_WAKES: 'off' }).timedWakes).toBe(false);
  });

  test.each([
    ['1', 60_000],
    [String(MAX_SAFETY_SWEEP_MINUTES), MAX_SAFETY_SWEEP_MINUTES * 60_000],
    ['off', undefined],
  ])('SAFETY_SWEEP_MINUTES %s is %s ms', (text, milliseconds) => {
    const config = parseConfig({ ...GOOD, SAFETY_SWEEP_MINUTES: text });
    expect(config.safetySweepMs).toBe(milliseconds);
  });

  test.each(['0', '-1', '1.5', '060', 'on', 'never', ' 5', String(MAX_SAFETY_SWEEP_MINUTES + 1)])(
    'SAFETY_SWEEP_MINUTES %j is refused',
    (text) => {
      expect(faults({ ...GOOD, SAFETY_SWEEP_MINUTES: text }).problems).toMatchObject([
        { path: 'SAFETY_SWEEP_MINUTES' },
      ]);
    },
  );
});

describe('sign-in', () => {
  const { AUTH_SECRET: _secret, ...others } = GOOD;

  test('by public keys lets the shared secret be left out', () => {
    const config = parseConfig({
      ...others,
      JWKS_URL: 'https://login.example/keys?v=1',
      AUTH_ISSUER: 'https://login.example',
      AUTH_AUDIENCE: 'jobs',
    });
    expect(config).toMatchObject({
      authSecret: undefined,
      authIssuer: 'https://login.example',
      authAudience: 'jobs',
    });
    expect(config.jwksUrl?.href).toBe('https://login.example/keys?v=1');
  });

  test('by neither is refused, and a short secret is, with public keys too', () => {
    expect(faults(others).problems.map(({ path }) => path)).toEqual(['AUTH_SECRET']);
    const short = { ...others, JWKS_URL: 'https://login.example', AUTH_SECRET: 'short' };
    expect(faults(short).problems.map(({ path }) => path)).toEqual(['AUTH_SECRET']);
  });

  test.each([
    'http://login.example/keys',
    'https://user:pass@login.example/keys',
    'https://login.example/keys#a',
    'file:///etc/keys',
    'keys',
  ])('JWKS_URL %s is refused', (url) => {
    expect(faults({ ...GOOD, JWKS_URL: url }).problems).toMatchObject([{ path: 'JWKS_URL' }]);
  });

  test.each(['http://127.0.0.1:8080/keys', 'http://localhost/keys', 'http://[::1]:1/keys'])(
    'JWKS_URL %s is this machine',
    (url) => {
      expect(parseConfig({ ...GOOD, JWKS_URL: url }).jwksUrl?.href).toBe(url);
    },
  );

  test('an issuer of 1,000 characters is taken, one of 1,001 is not', () => {
    expect(parseConfig({ ...GOOD, AUTH_ISSUER: 'i'.repeat(1000) }).authIssuer).toHaveLength(1000);
    const long = faults({ ...GOOD, AUTH_ISSUER: 'i'.repeat(1001) });
    expect(long.problems).toMatchObject([{ path: 'AUTH_ISSUER' }]);
  });
});
