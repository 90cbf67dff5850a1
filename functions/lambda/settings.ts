import { z } from 'zod';

import { LeaseholdError } from '../../shared/errors.ts';
import { parseWith, stating } from '../../shared/parse-with.ts';
import { MAX_LAMBDA_SECONDS } from '../../shared/platform.ts';
import type { WakeTarget } from '../wake/eventbridge-wake-clock.ts';
import { parseSecretsRef } from './secrets-ref.ts';
import type { SecretsRef } from './secrets-ref.ts';

/** What a Lambda deployment is told on top of `Config`: names and ARNs, never a secret. */
export interface LambdaSettings {
  /** Where the secrets are; undefined: among the variables. */
  readonly secrets: SecretsRef | undefined;
  /** Function that pokes invoke; undefined: pokes go to `POKE_URL`, if anywhere. */
  readonly workerFunction: string | undefined;
  /** Time-out of the function that works: what a handler may run for. */
  readonly workerTimeoutSeconds: number;
  /** How long into its invocation a worker may take another job of the same queue; 0: one job an invocation. */
  readonly takesMoreSeconds: number;
  /** Folder of the board's script and style; undefined: there is no board. */
  readonly boardAssets: string | undefined;
  /** Undefined: nothing is woken at an instant, and the schedule alone drains. */
  readonly wake: WakeTarget | undefined;
}

const SECRETS_RULE =
  'must be "secretsmanager:" and the name or ARN of a secret, or "ssm:" and a path that begins with a slash';
const FUNCTION_RULE = 'must be the name or ARN of a function';
const TIMEOUT_RULE = `must be whole seconds from 1 to ${MAX_LAMBDA_SECONDS}`;
const TAKES_MORE_RULE = 'must be whole seconds, half of WORKER_TIMEOUT_SECONDS at most';
const GROUP_RULE = 'must be the name of a schedule group: 1 to 64 letters, digits, ".", "-" or "_"';
const FOLDER_RULE = 'must be the absolute path of a folder';
const ARN_RULE = 'must be an ARN';
const TOGETHER_RULE =
  'must be set together: WAKE_SCHEDULE_GROUP, WAKE_FUNCTION_ARN, WAKE_ROLE_ARN and WAKE_DEAD_LETTER_ARN';

const arn = z.string(stating(ARN_RULE)).regex(/^arn:[^:]+:[a-z0-9-]+:/, ARN_RULE);

/** The names that are read. */
const WAKE_NAMES = [
  'WAKE_SCHEDULE_GROUP',
  'WAKE_FUNCTION_ARN',
  'WAKE_ROLE_ARN',
  'WAKE_DEAD_LETTER_ARN',
] as const;
export const LAMBDA_SETTING_NAMES = [
  'SECRETS',
  'WORKER_FUNCTION',
  'WORKER_TIMEOUT_SECONDS',
  'WORKER_TAKES_MORE_SECONDS',
  'BOARD_ASSETS',
  ...WAKE_NAMES,
] as const;

const schema = z
  .object({
    SECRETS: z
      .string(stating(SECRETS_RULE))
      .refine((text) => parseSecretsRef(text) !== undefined, SECRETS_RULE)
      .optional(),
    WORKER_FUNCTION: z
      .string(stating(FUNCTION_RULE))
      .regex(/^[\w:-]{1,200}$/, FUNCTION_RULE)
      .optional(),
    WORKER_TIMEOUT_SECONDS: z
      .string(stating(TIMEOUT_RULE))
      .regex(/^[1-9]\d{0,2}$/, TIMEOUT_RULE)
      .transform(Number)
      .refine((seconds) => seconds <= MAX_LAMBDA_SECONDS, TIMEOUT_RULE)
      .default(MAX_LAMBDA_SECONDS),
    WORKER_TAKES_MORE_SECONDS: z
      .string(stating(TAKES_MORE_RULE))
      .regex(/^\d{1,3}$/, TAKES_MORE_RULE)
      .transform(Number)
      .default(0),
    BOARD_ASSETS: z.string(stating(FOLDER_RULE)).startsWith('/', FOLDER_RULE).optional(),
    WAKE_SCHEDULE_GROUP: z
      .string(stating(GROUP_RULE))
      .regex(/^[\w.-]{1,64}$/, GROUP_RULE)
      .optional(),
    WAKE_FUNCTION_ARN: arn.optional(),
    WAKE_ROLE_ARN: arn.optional(),
    WAKE_DEAD_LETTER_ARN: arn.optional(),
  })
  .superRefine((value, context) => {
    if (value.WORKER_TAKES_MORE_SECONDS * 2 > value.WORKER_TIMEOUT_SECONDS) {
      context.addIssue({
        code: 'custom',
        path: ['WORKER_TAKES_MORE_SECONDS'],
        message: TAKES_MORE_RULE,
      });
    }
    const missing = WAKE_NAMES.filter((name) => value[name] === undefined);
    if (missing.length === 0 || missing.length === WAKE_NAMES.length) return;
    for (const name of missing) {
      context.addIssue({ code: 'custom', path: [name], message: TOGETHER_RULE });
    }
  });

/**
 * @param record the container's variables; empty ones count as missing
 * @throws {LeaseholdError} `config_invalid` with every fault, named by variable
 */
export function parseLambdaSettings(record: Readonly<Record<string, unknown>>): LambdaSettings {
  const picked = Object.fromEntries(
    LAMBDA_SETTING_NAMES.flatMap((name) => {
      const value = record[name];
      return value === undefined || value === '' ? [] : [[name, value]];
    }),
  );
  const parsed = parseWith(schema, picked);
  if (!parsed.ok) {
    const listed = parsed.problems.map(({ path, message }) => `${path} ${message}`).join('; ');
    throw new LeaseholdError('config_invalid', `The configuration is invalid: ${listed}.`, {
      problems: parsed.problems,
    });
  }
  const { value } = parsed;
  return Object.freeze({
    secrets: value.SECRETS === undefined ? undefined : parseSecretsRef(value.SECRETS),
    workerFunction: value.WORKER_FUNCTION,
    workerTimeoutSeconds: value.WORKER_TIMEOUT_SECONDS,
    takesMoreSeconds: value.WORKER_TAKES_MORE_SECONDS,
    boardAssets: value.BOARD_ASSETS,
    wake:
      value.WAKE_SCHEDULE_GROUP === undefined
        ? undefined
        : Object.freeze({
            group: value.WAKE_SCHEDULE_GROUP,
            functionArn: value.WAKE_FUNCTION_ARN ?? '',
            roleArn: value.WAKE_ROLE_ARN ?? '',
            deadLetterArn: value.WAKE_DEAD_LETTER_ARN ?? '',
          }),
  });
}
