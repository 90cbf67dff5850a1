/**
 * Checks requests against the model of EventBridge Scheduler: shapes, members and which of them are needed come from the
 * published SDK, the bounds on single values from the service's documentation (the SDK does not carry them).
 */
import {
  ActionAfterCompletion,
  CreateSchedule$,
  DeleteSchedule$,
  FlexibleTimeWindowMode,
  GetSchedule$,
  ScheduleState,
  UpdateSchedule$,
} from '@aws-sdk/client-scheduler';

export const OPERATIONS = [CreateSchedule$, UpdateSchedule$, GetSchedule$, DeleteSchedule$].map(
  (schema) => {
    const [, , name, traits, input] = schema as unknown as OperationSchema;
    const [method, path] = traits.http;
    return {
      name,
      method,
      path: new RegExp(`^${path.replace('{Name}', '([^/]+)')}$`),
      input: input(),
    };
  },
);

type OperationSchema = readonly [
  kind: number,
  namespace: string,
  name: string,
  traits: { readonly http: readonly [method: string, path: string, status: number] },
  input: () => StructureSchema,
];
type StructureSchema = readonly [
  kind: number,
  namespace: string,
  name: string,
  traits: unknown,
  members: readonly string[],
  types: readonly MemberSchema[],
  required?: number,
];
type MemberSchema = number | (() => StructureSchema) | readonly [MemberSchema, unknown];

/** Numbers that stand for simple types in the schemas of the SDK. */
const STRING = 0;
const NUMBER = 1;

const RULES: Readonly<Record<string, (value: never) => boolean>> = {
  Name: (value: string) => /^[\w.-]{1,64}$/.test(value),
  GroupName: (value: string) => /^[\w.-]{1,64}$/.test(value),
  ClientToken: (value: string) => /^[\w-]{1,64}$/.test(value),
  ScheduleExpression: (value: string) =>
    /^at\(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\)$/.test(value) && value.length <= 256,
  ScheduleExpressionTimezone: (value: string) => value.length >= 1 && value.length <= 50,
  State: (value: string) => value in ScheduleState,
  ActionAfterCompletion: (value: string) => value in ActionAfterCompletion,
  'FlexibleTimeWindow.Mode': (value: string) => value in FlexibleTimeWindowMode,
  'Target.Arn': (value: string) => /^arn:aws:lambda:[a-z0-9-]+:\d{12}:function:[\w-]+$/.test(value),
  'Target.RoleArn': (value: string) => /^arn:aws:iam::\d{12}:role\/[\w+=,.@/-]+$/.test(value),
  'Target.Input': (value: string) => isJson(value),
  'Target.DeadLetterConfig.Arn': (value: string) =>
    /^arn:aws:sqs:[a-z0-9-]+:\d{12}:[\w-]+$/.test(value),
  'Target.RetryPolicy.MaximumEventAgeInSeconds': (value: number) => value >= 60 && value <= 86_400,
  'Target.RetryPolicy.MaximumRetryAttempts': (value: number) => value >= 0 && value <= 185,
};

/** @returns what is wrong with an input, as paths and texts */
export function inputFaults(
  input: StructureSchema,
  value: Readonly<Record<string, unknown>>,
): string[] {
  return structureFaults(input, value, '');
}

function structureFaults(
  [, , , , members, types, required = 0]: StructureSchema,
  value: Readonly<Record<string, unknown>>,
  path: string,
): string[] {
  const missing = members
    .slice(0, required)
    .filter((name) => value[name] === undefined)
    .map((name) => `${path}${name} is missing`);
  const wrong = Object.entries(value).flatMap(([name, member]) => {
    const type = types[members.indexOf(name)];
    return type === undefined
      ? [`${path}${name} is not a member`]
      : memberFaults(type, member, `${path}${name}`);
  });
  return [...missing, ...wrong];
}

function memberFaults(type: MemberSchema, value: unknown, path: string): string[] {
  const plain = Array.isArray(type) ? (type as readonly MemberSchema[])[0] : type;
  if (typeof plain === 'function') {
    return typeof value === 'object' && value !== null
      ? structureFaults(plain(), value as Record<string, unknown>, `${path}.`)
      : [`${path} must be a structure`];
  }
  if (plain === STRING && typeof value !== 'string') return [`${path} must be a text`];
  if (plain === NUMBER && typeof value !== 'number') return [`${path} must be a number`];
  return RULES[path]?.(value as never) === false ? [`${path} is out of its bounds`] : [];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
