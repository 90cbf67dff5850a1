import { z } from 'zod';

import { parseConnectionString } from './database/connection-string.ts';
import { LeaseholdError } from './errors.ts';
import type { FieldProblem } from './errors.ts';
import { MIN_AUTH_SECRET_BYTES } from './limits.ts';
import { parseWith, stating } from './parse-with.ts';
import { Secret } from './secret.ts';
import { decodeWebhookKey } from './webhook.ts';

/** Everything a deployment can be told, checked and frozen. Secrets do not print. */
export interface Config {
  readonly databaseUrl: Secret;
  readonly authSecret: Secret;
  /** One or two `whsec_…` keys: the first signs, all verify, so that a key can be changed without a gap. */
  readonly pokeSecrets: readonly Secret[];
  /** Whether an enqueue pokes the worker after its commit. */
  readonly insertPokes: boolean;
  /** Whether a worker that finishes and sees more due work pokes on. */
  readonly chainPokes: boolean;
  /** Where pokes go when there is no service binding: an origin such as `https://jobs.example.com`. */
  readonly pokeUrl: URL | undefined;
}

/** The names that are read; anything else in the record (bindings, other programs' variables) is left alone. */
const CONFIG_NAMES = [
  'DATABASE_URL',
  'AUTH_SECRET',
  'POKE_SECRETS',
  'INSERT_POKES',
  'CHAIN_POKES',
  'POKE_URL',
] as const;

const DATABASE_URL_RULE =
  'must be a postgres:// URL with a user, a password, a host and a database name';
const AUTH_SECRET_RULE = `must be at least ${MIN_AUTH_SECRET_BYTES} bytes`;
const POKE_SECRETS_RULE =
  'must be one or two keys "whsec_" + base64 of 24 to 64 bytes, separated by a space';
const SWITCH_RULE = 'must be "on" or "off"';
const POKE_URL_RULE = 'must be an http:// or https:// URL without user, query and fragment';

const onOff = z
  .enum({ on: 'on', off: 'off' }, stating(SWITCH_RULE))
  .default('on')
  .transform((value) => value === 'on');

const schema = z.object({
  DATABASE_URL: z.string(stating(DATABASE_URL_RULE)).refine(isDatabaseUrl, DATABASE_URL_RULE),
  AUTH_SECRET: z
    .string(stating(AUTH_SECRET_RULE))
    .refine(
      (text) => new TextEncoder().encode(text).length >= MIN_AUTH_SECRET_BYTES,
      AUTH_SECRET_RULE,
    ),
  POKE_SECRETS: z
    .string(stating(POKE_SECRETS_RULE))
    .transform((text) => text.split(' ').filter((key) => key !== ''))
    .refine((keys) => keys.length >= 1 && keys.length <= 2, POKE_SECRETS_RULE)
    .refine((keys) => keys.every((key) => decodeWebhookKey(key) !== undefined), POKE_SECRETS_RULE),
  INSERT_POKES: onOff,
  CHAIN_POKES: onOff,
  POKE_URL: z.string(stating(POKE_URL_RULE)).refine(isPokeUrl, POKE_URL_RULE).optional(),
});

/**
 * Reads the configuration out of a plain record of variables, once per cold start.
 *
 * @param record the platform's variables; empty strings count as missing
 * @throws {LeaseholdError} `config_invalid` with every fault at once, named by variable; values are never repeated
 * @example parseConfig({ DATABASE_URL: 'postgres://u:p@ep-x.neon.tech/db', AUTH_SECRET: '…', POKE_SECRETS: 'whsec_…' })
 */
export function parseConfig(record: Readonly<Record<string, unknown>>): Config {
  const picked = Object.fromEntries(
    CONFIG_NAMES.flatMap((name) => {
      const value = record[name];
      return value === undefined || value === '' ? [] : [[name, value]];
    }),
  );
  const parsed = parseWith(schema, picked);
  if (!parsed.ok) throw configError(parsed.problems);
  const { value } = parsed;
  return Object.freeze({
    databaseUrl: new Secret(value.DATABASE_URL),
    authSecret: new Secret(value.AUTH_SECRET),
    pokeSecrets: Object.freeze(value.POKE_SECRETS.map((key) => new Secret(key))),
    insertPokes: value.INSERT_POKES,
    chainPokes: value.CHAIN_POKES,
    pokeUrl: value.POKE_URL === undefined ? undefined : new URL(value.POKE_URL),
  });
}

function configError(problems: readonly FieldProblem[]): LeaseholdError {
  const listed = problems.map(({ path, message }) => `${path} ${message}`).join('; ');
  return new LeaseholdError('config_invalid', `The configuration is invalid: ${listed}.`, {
    problems,
  });
}

function isDatabaseUrl(text: string): boolean {
  try {
    parseConnectionString(text);
    return true;
  } catch {
    return false;
  }
}

function isPokeUrl(text: string): boolean {
  const url = parseUrl(text);
  return (
    url !== undefined &&
    (url.protocol === 'https:' || url.protocol === 'http:') &&
    url.username === '' &&
    url.password === '' &&
    url.search === '' &&
    url.hash === ''
  );
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
