import { z } from 'zod';

import {
  DEFAULT_EVENT_DAYS,
  DEFAULT_INBOX_DAYS,
  DEFAULT_PAYLOAD_DAYS,
  DEFAULT_PUBLISH_ATTEMPTS,
  MAX_PUBLISH_ATTEMPTS,
  MAX_RETENTION_DAYS,
} from './limits.ts';
import { stating } from './parse-with.ts';
import { Secret } from './secret.ts';

/** What a deployment can be told about its outbox and inbox. */
export interface OutboxSettings {
  /** Where events are published to by signed HTTP; undefined: not by HTTP. */
  readonly http: HttpTarget | undefined;
  /** Tries of one event before it is quarantined. */
  readonly maxAttempts: number;
  readonly payloadDays: number;
  readonly eventDays: number;
  readonly inboxDays: number;
}

export interface HttpTarget {
  readonly url: URL;
  /** One or two; all sign. */
  readonly keys: readonly Secret[];
  readonly format: 'structured' | 'binary';
  /** `source` of the CloudEvents. */
  readonly source: string;
}

const URL_RULE =
  'must be an https:// URL without user and fragment (http:// where PUSH_ALLOW_HTTP is on)';
const FORMAT_RULE = 'must be "structured" or "binary"';
const SOURCE_RULE = 'must be a URI or a relative one of at most 200 characters, such as "/orders"';
const ATTEMPTS_RULE = `must be an integer from 1 to ${MAX_PUBLISH_ATTEMPTS}`;

/** The variables, for the schema of all of them. */
export const OUTBOX_VARIABLES = {
  OUTBOX_TARGET_URL: z.string(stating(URL_RULE)).refine(isTarget, URL_RULE).optional(),
  OUTBOX_FORMAT: z.enum(['structured', 'binary'], stating(FORMAT_RULE)).default('structured'),
  OUTBOX_SOURCE: z
    .string(stating(SOURCE_RULE))
    .regex(/^[\x21-\x7e]{1,200}$/, SOURCE_RULE)
    .refine((text) => URL.canParse(text, 'https://any.example'), SOURCE_RULE)
    .default('/leasehold'),
  OUTBOX_MAX_ATTEMPTS: whole(1, MAX_PUBLISH_ATTEMPTS, ATTEMPTS_RULE).default(
    DEFAULT_PUBLISH_ATTEMPTS,
  ),
  OUTBOX_PAYLOAD_DAYS: days(1).default(DEFAULT_PAYLOAD_DAYS),
  OUTBOX_EVENT_DAYS: days(2).default(DEFAULT_EVENT_DAYS),
  INBOX_DAYS: days(1).default(DEFAULT_INBOX_DAYS),
};

/** The variables after parsing. */
export interface OutboxVariables {
  readonly OUTBOX_TARGET_URL?: string | undefined;
  readonly OUTBOX_SECRETS: readonly string[];
  readonly OUTBOX_FORMAT: 'structured' | 'binary';
  readonly OUTBOX_SOURCE: string;
  readonly OUTBOX_MAX_ATTEMPTS: number;
  readonly OUTBOX_PAYLOAD_DAYS: number;
  readonly OUTBOX_EVENT_DAYS: number;
  readonly INBOX_DAYS: number;
  readonly PUSH_ALLOW_HTTP: boolean;
}

/** What is wrong with the variables together, named by variable. */
export function outboxProblems(value: OutboxVariables): { path: string; message: string }[] {
  const target = value.OUTBOX_TARGET_URL;
  const problems: { path: string; message: string }[] = [];
  if (target !== undefined && new URL(target).protocol === 'http:' && !value.PUSH_ALLOW_HTTP) {
    problems.push({ path: 'OUTBOX_TARGET_URL', message: URL_RULE });
  }
  if (target !== undefined && value.OUTBOX_SECRETS.length === 0) {
    const message = 'is required where OUTBOX_TARGET_URL is set: nothing goes out unsigned';
    problems.push({ path: 'OUTBOX_SECRETS', message });
  }
  if (value.OUTBOX_EVENT_DAYS < value.OUTBOX_PAYLOAD_DAYS) {
    const message = 'must be no less than OUTBOX_PAYLOAD_DAYS';
    problems.push({ path: 'OUTBOX_EVENT_DAYS', message });
  }
  return problems;
}

export function outboxSettings(value: OutboxVariables): OutboxSettings {
  const http =
    value.OUTBOX_TARGET_URL === undefined
      ? undefined
      : Object.freeze({
          url: new URL(value.OUTBOX_TARGET_URL),
          keys: Object.freeze(value.OUTBOX_SECRETS.map((key) => new Secret(key))),
          format: value.OUTBOX_FORMAT,
          source: value.OUTBOX_SOURCE,
        });
  return Object.freeze({
    http,
    maxAttempts: value.OUTBOX_MAX_ATTEMPTS,
    payloadDays: value.OUTBOX_PAYLOAD_DAYS,
    eventDays: value.OUTBOX_EVENT_DAYS,
    inboxDays: value.INBOX_DAYS,
  });
}

function days(min: number): ReturnType<typeof whole> {
  return whole(min, MAX_RETENTION_DAYS, `must be whole days from ${min} to ${MAX_RETENTION_DAYS}`);
}

/** A variable is text on most platforms; where it may be a number, a number is as good. */
function whole(min: number, max: number, rule: string): z.ZodType<number, string | number> {
  return z
    .union([z.string(), z.number()], stating(rule))
    .refine((value) => /^\d{1,9}$/.test(String(value)), rule)
    .transform(Number)
    .refine((value) => value >= min && value <= max, rule);
}

/** Whoever runs the deployment names it, so it may be private. */
function isTarget(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return (
    ['https:', 'http:'].includes(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    url.hash === ''
  );
}
