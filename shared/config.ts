import { z } from 'zod';

import { parseConnectionString } from './database/connection-string.ts';
import { LeaseholdError } from './errors.ts';
import type { FieldProblem } from './errors.ts';
import {
  DEFAULT_SAFETY_SWEEP_MINUTES,
  MAX_SAFETY_SWEEP_MINUTES,
  DEFAULT_JOBS_PER_INVOCATION,
  MAX_JOBS_PER_INVOCATION,
  MIN_AUTH_SECRET_BYTES,
} from './limits.ts';
import { BROKER_VARIABLES, brokerProblems, brokerTarget } from './broker-settings.ts';
import type { BrokerTarget } from './broker-settings.ts';
import { OUTBOX_VARIABLES, outboxProblems, outboxSettings } from './outbox-settings.ts';
import type { OutboxSettings } from './outbox-settings.ts';
import { isJwksUrl } from './jwks-url.ts';
import { parseWith, stating } from './parse-with.ts';
import { PROXY_VARIABLES, proxyProblems, signInProxy } from './proxy-settings.ts';
import type { SignInProxy } from './proxy-settings.ts';
import type { PushTargetPolicy } from './push/target.ts';
import { Secret } from './secret.ts';
import { TRACING_VARIABLES, tracingProblems, tracingSettings } from './tracing-settings.ts';
import type { TracingSettings } from './tracing-settings.ts';
import { decodeWebhookKey } from './webhook.ts';

/** Everything a deployment can be told, checked and frozen. Secrets do not print. */
export interface Config {
  readonly databaseUrl: Secret;
  /** Signs bearer tokens with HS256. At least one of this and `jwksUrl` is there. */
  readonly authSecret: Secret | undefined;
  /** Where the sign-in provider keeps its public keys; tokens signed with one of them are taken as well. */
  readonly jwksUrl: URL | undefined;
  /** What `iss` and `aud` of every token must be; undefined: anything. */
  readonly authIssuer: string | undefined;
  readonly authAudience: string | undefined;
  /** Who else may say who is calling; undefined: nobody. */
  readonly signInProxy: SignInProxy | undefined;
  /** One or two `whsec_…` keys: the first signs, all verify, so that a key can be changed without a gap. */
  readonly pokeSecrets: readonly Secret[];
  /** Whether an enqueue pokes the worker after its commit. */
  readonly insertPokes: boolean;
  /** Whether a worker that finishes and sees more due work pokes on. */
  readonly chainPokes: boolean;
  /** Whether due instants go to the wake clock, where the platform has one; without, each tick of the cron drains. */
  readonly timedWakes: boolean;
  /** How long the wake clock leaves the database alone at most, in milliseconds; undefined: for as long as nothing is due. */
  readonly safetySweepMs: number | undefined;
  /** Jobs that a worker runs one after another for one poke, 1 to 100, while its time lasts. */
  readonly jobsPerInvocation: number;
  /** Where pokes go when there is no service binding: an origin such as `https://jobs.example.com`. */
  readonly pokeUrl: URL | undefined;
  /** One or two `whsec_…` keys that sign pushed jobs, both at once while receivers change theirs; none: no pushes. */
  readonly pushSecrets: readonly Secret[];
  /** Where jobs may be pushed to. */
  readonly pushTargets: PushTargetPolicy;
  /** Where events go, and how long they are kept. */
  readonly outbox: OutboxSettings & { readonly broker: BrokerTarget | undefined };
  /** Where spans go; undefined: nothing is traced. */
  readonly tracing: TracingSettings | undefined;
}

/** The names that are read; anything else in the record (bindings, other programs' variables) is left alone. */
const CONFIG_NAMES = [
  'DATABASE_URL',
  'AUTH_SECRET',
  'JWKS_URL',
  'AUTH_ISSUER',
  'AUTH_AUDIENCE',
  ...Object.keys(PROXY_VARIABLES),
  'POKE_SECRETS',
  'INSERT_POKES',
  'CHAIN_POKES',
  'TIMED_WAKES',
  'SAFETY_SWEEP_MINUTES',
  'JOBS_PER_INVOCATION',
  'POKE_URL',
  'PUSH_SECRETS',
  'PUSH_ALLOW_HTTP',
  'PUSH_ALLOWED_HOSTS',
  'OUTBOX_SECRETS',
  ...Object.keys(OUTBOX_VARIABLES),
  ...Object.keys(BROKER_VARIABLES),
  ...Object.keys(TRACING_VARIABLES),
];

const MAX_CLAIM_CHARS = 1000;

const DATABASE_URL_RULE =
  'must be a postgres:// URL with a user, a password, a host and a database name';
const AUTH_SECRET_RULE = `must be at least ${MIN_AUTH_SECRET_BYTES} bytes; it may be left out where JWKS_URL is set`;
const JWKS_URL_RULE =
  'must be an https:// URL without user and fragment (http:// for this machine alone)';
const CLAIM_RULE = `must be at most ${MAX_CLAIM_CHARS} characters`;
const SIGNING_KEYS_RULE =
  'must be one or two keys "whsec_" + base64 of 24 to 64 bytes, separated by a space';
const SWITCH_RULE = 'must be "on" or "off"';
const SWEEP_RULE = `must be "off" or whole minutes from 1 to ${MAX_SAFETY_SWEEP_MINUTES}`;
const JOBS_RULE = `must be an integer from 1 to ${MAX_JOBS_PER_INVOCATION}`;
const POKE_URL_RULE = 'must be an http:// or https:// URL without user, query and fragment';
const ALLOWED_HOSTS_RULE = 'must be hosts, each with or without a port, separated by spaces';

function onOff(unset: 'on' | 'off'): z.ZodType<boolean> {
  return z
    .enum({ on: 'on', off: 'off' }, stating(SWITCH_RULE))
    .default(unset)
    .transform((value) => value === 'on');
}

/** A variable is text on most platforms; where it may be a number, a number is as good. */
const jobsPerInvocation = z
  .union([z.string(), z.number()], stating(JOBS_RULE))
  .refine((value) => /^[1-9]\d{0,2}$/.test(String(value)), JOBS_RULE)
  .transform(Number)
  .refine((jobs) => jobs <= MAX_JOBS_PER_INVOCATION, JOBS_RULE);

const signingKeys = z
  .string(stating(SIGNING_KEYS_RULE))
  .transform((text) => text.split(' ').filter((key) => key !== ''))
  .refine((keys) => keys.length >= 1 && keys.length <= 2, SIGNING_KEYS_RULE)
  .refine((keys) => keys.every((key) => decodeWebhookKey(key) !== undefined), SIGNING_KEYS_RULE);

const authSecret = z
  .string(stating(AUTH_SECRET_RULE))
  .refine(
    (text) => new TextEncoder().encode(text).length >= MIN_AUTH_SECRET_BYTES,
    AUTH_SECRET_RULE,
  );

const schema = z.object({
  DATABASE_URL: z.string(stating(DATABASE_URL_RULE)).refine(isDatabaseUrl, DATABASE_URL_RULE),
  AUTH_SECRET: authSecret,
  JWKS_URL: z.string(stating(JWKS_URL_RULE)).refine(isJwksUrl, JWKS_URL_RULE).optional(),
  AUTH_ISSUER: z.string(stating(CLAIM_RULE)).max(MAX_CLAIM_CHARS, CLAIM_RULE).optional(),
  AUTH_AUDIENCE: z.string(stating(CLAIM_RULE)).max(MAX_CLAIM_CHARS, CLAIM_RULE).optional(),
  ...PROXY_VARIABLES,
  POKE_SECRETS: signingKeys,
  INSERT_POKES: onOff('on'),
  CHAIN_POKES: onOff('on'),
  TIMED_WAKES: onOff('on'),
  SAFETY_SWEEP_MINUTES: z
    .string(stating(SWEEP_RULE))
    .refine(isSweep, SWEEP_RULE)
    .default(String(DEFAULT_SAFETY_SWEEP_MINUTES))
    .transform((text) => (text === 'off' ? undefined : Number(text) * 60_000)),
  JOBS_PER_INVOCATION: jobsPerInvocation.default(DEFAULT_JOBS_PER_INVOCATION),
  POKE_URL: z.string(stating(POKE_URL_RULE)).refine(isPokeUrl, POKE_URL_RULE).optional(),
  PUSH_SECRETS: signingKeys.default([]),
  PUSH_ALLOW_HTTP: onOff('off'),
  PUSH_ALLOWED_HOSTS: z
    .string(stating(ALLOWED_HOSTS_RULE))
    .transform((text) => text.split(' ').flatMap((host) => (host === '' ? [] : [plainHost(host)])))
    .refine((hosts) => hosts.every((host) => host !== undefined), ALLOWED_HOSTS_RULE)
    .optional(),
  OUTBOX_SECRETS: signingKeys.default([]),
  ...OUTBOX_VARIABLES,
  ...BROKER_VARIABLES,
  ...TRACING_VARIABLES,
});

/** With a sign-in provider, the shared secret may be left out. */
const schemaWithProvider = schema.extend({ AUTH_SECRET: authSecret.optional() });

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
  const parsed = parseWith('JWKS_URL' in picked ? schemaWithProvider : schema, picked);
  if (!parsed.ok) throw configError(parsed.problems);
  const { value } = parsed;
  const problems = [
    ...outboxProblems(value),
    ...brokerProblems(value),
    ...proxyProblems(value),
    ...tracingProblems(value),
  ];
  if (problems.length > 0) throw configError(problems);
  return Object.freeze({
    databaseUrl: new Secret(value.DATABASE_URL),
    authSecret: value.AUTH_SECRET === undefined ? undefined : new Secret(value.AUTH_SECRET),
    jwksUrl: value.JWKS_URL === undefined ? undefined : new URL(value.JWKS_URL),
    authIssuer: value.AUTH_ISSUER,
    authAudience: value.AUTH_AUDIENCE,
    signInProxy: signInProxy(value),
    pokeSecrets: Object.freeze(value.POKE_SECRETS.map((key) => new Secret(key))),
    insertPokes: value.INSERT_POKES,
    chainPokes: value.CHAIN_POKES,
    timedWakes: value.TIMED_WAKES,
    safetySweepMs: value.SAFETY_SWEEP_MINUTES,
    jobsPerInvocation: value.JOBS_PER_INVOCATION,
    pokeUrl: value.POKE_URL === undefined ? undefined : new URL(value.POKE_URL),
    pushSecrets: Object.freeze(value.PUSH_SECRETS.map((key) => new Secret(key))),
    pushTargets: Object.freeze({
      allowHttp: value.PUSH_ALLOW_HTTP,
      ...(value.PUSH_ALLOWED_HOSTS === undefined
        ? {}
        : { allowedHosts: Object.freeze(value.PUSH_ALLOWED_HOSTS.filter(isDefined)) }),
    }),
    outbox: Object.freeze({ ...outboxSettings(value), broker: brokerTarget(value) }),
    tracing: tracingSettings(value),
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

function isSweep(text: string): boolean {
  if (text === 'off') return true;
  return /^[1-9]\d{0,4}$/.test(text) && Number(text) <= MAX_SAFETY_SWEEP_MINUTES;
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

/** `host` or `host:port` as the URL parser writes it, or undefined when it is neither. */
function plainHost(text: string): string | undefined {
  const [, host, port = ''] = /^(\[[0-9a-f:.]+\]|[^:/?#@[\]\\]+)(:\d{1,5})?$/i.exec(text) ?? [];
  const url = host === undefined ? undefined : parseUrl(`http://${host}/`);
  return url === undefined ? undefined : `${url.hostname}${port}`;
}

function isDefined<Value>(value: Value | undefined): value is Value {
  return value !== undefined;
}
