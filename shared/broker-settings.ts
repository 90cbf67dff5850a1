import { z } from 'zod';

import { stating } from './parse-with.ts';
import { Secret } from './secret.ts';

/** Where a deployment publishes events to, when that is not an HTTP endpoint. */
export type BrokerTarget = NatsTarget | AwsTarget | CapturedTarget;

/** Nowhere: a reader of the database's log publishes them, and the relay marks them alone. */
export interface CapturedTarget {
  readonly kind: 'cdc';
}

export interface NatsTarget {
  readonly kind: 'nats';
  /** `wss://…`: a WebSocket can be opened on every platform. */
  readonly url: URL;
  readonly prefix: string;
  /** A token, or the text of a `.creds` file; undefined: the server asks for none. */
  readonly token: Secret | undefined;
  readonly credentials: Secret | undefined;
  /** `source` of the CloudEvents. */
  readonly source: string;
}

/** By the credentials of the function itself. */
export type AwsTarget =
  | { readonly kind: 'eventbridge'; readonly bus: string; readonly source: string }
  | { readonly kind: 'sns'; readonly topicArn: string; readonly source: string };

const NATS_URL_RULE =
  'must be a wss:// URL without user, query and fragment (ws:// where PUSH_ALLOW_HTTP is on)';
const PREFIX_RULE =
  'must be 1 to 100 letters, digits, "-" and "_", in parts with a dot between, such as "shop.events"';
const BUS_RULE = 'must be the name or the ARN of an event bus';
const TOPIC_RULE = 'must be the ARN of an SNS topic';
const CREDENTIALS_RULE =
  'must be the text of a .creds file, and comes instead of OUTBOX_NATS_TOKEN';
const MAX_TOKEN_CHARS = 1000;
const TOKEN_RULE = `must be at most ${MAX_TOKEN_CHARS} characters`;
const CDC_RULE = 'must be "on", or be left out';
const MAX_CREDENTIALS_CHARS = 10_000;

/** The variables, for the schema of all of them. */
export const BROKER_VARIABLES = {
  OUTBOX_NATS_URL: z.string(stating(NATS_URL_RULE)).refine(isWebSocket, NATS_URL_RULE).optional(),
  OUTBOX_NATS_PREFIX: z
    .string(stating(PREFIX_RULE))
    .max(100, PREFIX_RULE)
    .regex(/^[\w-]+(?:\.[\w-]+)*$/, PREFIX_RULE)
    .default('events'),
  OUTBOX_NATS_TOKEN: z.string(stating(TOKEN_RULE)).max(MAX_TOKEN_CHARS, TOKEN_RULE).optional(),
  OUTBOX_NATS_CREDS: z
    .string(stating(CREDENTIALS_RULE))
    .max(MAX_CREDENTIALS_CHARS, CREDENTIALS_RULE)
    .refine((text) => text.includes('BEGIN NATS USER JWT'), CREDENTIALS_RULE)
    .optional(),
  OUTBOX_EVENTBRIDGE_BUS: z
    .string(stating(BUS_RULE))
    .regex(/^[\w./:-]{1,1600}$/, BUS_RULE)
    .optional(),
  OUTBOX_SNS_TOPIC_ARN: z
    .string(stating(TOPIC_RULE))
    .regex(/^arn:[\w-]+:sns:[\w-]+:\d{12}:[\w-]{1,256}(?:\.fifo)?$/, TOPIC_RULE)
    .optional(),
  OUTBOX_CDC: z.literal('on', stating(CDC_RULE)).optional(),
};

/** The variables after parsing. */
export interface BrokerVariables {
  readonly OUTBOX_NATS_URL?: string | undefined;
  readonly OUTBOX_NATS_PREFIX: string;
  readonly OUTBOX_NATS_TOKEN?: string | undefined;
  readonly OUTBOX_NATS_CREDS?: string | undefined;
  readonly OUTBOX_EVENTBRIDGE_BUS?: string | undefined;
  readonly OUTBOX_SNS_TOPIC_ARN?: string | undefined;
  readonly OUTBOX_CDC?: 'on' | undefined;
  readonly OUTBOX_TARGET_URL?: string | undefined;
  readonly OUTBOX_SOURCE: string;
  readonly PUSH_ALLOW_HTTP: boolean;
}

/** Each names the one place that events go to. */
const TARGETS = [
  'OUTBOX_TARGET_URL',
  'OUTBOX_NATS_URL',
  'OUTBOX_EVENTBRIDGE_BUS',
  'OUTBOX_SNS_TOPIC_ARN',
  'OUTBOX_CDC',
] as const;

/** What is wrong with the variables together, named by variable. */
export function brokerProblems(value: BrokerVariables): { path: string; message: string }[] {
  const problems: { path: string; message: string }[] = [];
  const [first, second] = TARGETS.filter((name) => value[name] !== undefined);
  if (first !== undefined && second !== undefined) {
    problems.push({ path: second, message: `comes instead of ${first}: events go to one place` });
  }
  const nats = value.OUTBOX_NATS_URL;
  if (nats !== undefined && new URL(nats).protocol === 'ws:' && !value.PUSH_ALLOW_HTTP) {
    problems.push({ path: 'OUTBOX_NATS_URL', message: NATS_URL_RULE });
  }
  if (value.OUTBOX_NATS_TOKEN !== undefined && value.OUTBOX_NATS_CREDS !== undefined) {
    problems.push({ path: 'OUTBOX_NATS_CREDS', message: CREDENTIALS_RULE });
  }
  return problems;
}

export function brokerTarget(value: BrokerVariables): BrokerTarget | undefined {
  const source = value.OUTBOX_SOURCE;
  if (value.OUTBOX_NATS_URL !== undefined) {
    return Object.freeze({
      kind: 'nats',
      url: new URL(value.OUTBOX_NATS_URL),
      prefix: value.OUTBOX_NATS_PREFIX,
      token: secret(value.OUTBOX_NATS_TOKEN),
      credentials: secret(value.OUTBOX_NATS_CREDS),
      source,
    });
  }
  if (value.OUTBOX_EVENTBRIDGE_BUS !== undefined) {
    return Object.freeze({ kind: 'eventbridge', bus: value.OUTBOX_EVENTBRIDGE_BUS, source });
  }
  if (value.OUTBOX_SNS_TOPIC_ARN !== undefined) {
    return Object.freeze({ kind: 'sns', topicArn: value.OUTBOX_SNS_TOPIC_ARN, source });
  }
  return value.OUTBOX_CDC === undefined ? undefined : { kind: 'cdc' };
}

function secret(text: string | undefined): Secret | undefined {
  return text === undefined ? undefined : new Secret(text);
}

function isWebSocket(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return (
    ['wss:', 'ws:'].includes(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    url.search === '' &&
    url.hash === ''
  );
}
