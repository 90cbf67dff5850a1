import { describe, expect, test } from 'vitest';
import { parseLambdaSettings } from '../../functions/lambda/settings.ts';
import { parseSecretsRef } from '../../functions/lambda/secrets-ref.ts';

const WAKE = {
  WAKE_SCHEDULE_GROUP: 'leasehold',
  WAKE_FUNCTION_ARN: 'arn:aws:lambda:eu-west-1:123456789012:function:leasehold-worker',
  WAKE_ROLE_ARN: 'arn:aws:iam::123456789012:role/wake',
  WAKE_DEAD_LETTER_ARN: 'arn:aws:sqs:eu-west-1:123456789012:dead',
};

/** The settings that are at fault. */
function faultsOf(record: Readonly<Record<string, unknown>>): readonly string[] {
  try {
    parseLambdaSettings(record);
    return [];
  } catch (error) {
    const { problems } = error as { readonly problems: readonly { readonly path: string }[] };
    return problems.map(({ path }) => path);
  }
}

describe('settings of a Lambda container', () => {
  test('may all be missing: then it works as one function, woken by its schedule', () => {
    expect(parseLambdaSettings({ PATH: '/bin', SECRETS: '' })).toEqual({
      secrets: undefined,
      workerFunction: undefined,
      workerTimeoutSeconds: 900,
      takesMoreSeconds: 0,
      wake: undefined,
    });
  });

  test('are read as the stack gives them', () => {
    const settings = parseLambdaSettings({
      ...WAKE,
      SECRETS: 'ssm:/leasehold/live',
      WORKER_FUNCTION: 'leasehold-worker',
      WORKER_TIMEOUT_SECONDS: '60',
      WORKER_TAKES_MORE_SECONDS: '30',
    });
    expect(settings).toEqual({
      secrets: { store: 'ssm', path: '/leasehold/live' },
      workerFunction: 'leasehold-worker',
      workerTimeoutSeconds: 60,
      takesMoreSeconds: 30,
      wake: {
        group: 'leasehold',
        functionArn: WAKE.WAKE_FUNCTION_ARN,
        roleArn: WAKE.WAKE_ROLE_ARN,
        deadLetterArn: WAKE.WAKE_DEAD_LETTER_ARN,
      },
    });
  });

  test.each<[Readonly<Record<string, string>>, readonly string[]]>([
    [{ SECRETS: 'vault:x' }, ['SECRETS']],
    [{ SECRETS: 'ssm:no-slash' }, ['SECRETS']],
    [{ WORKER_FUNCTION: 'a b' }, ['WORKER_FUNCTION']],
    [{ WORKER_TIMEOUT_SECONDS: '1.5' }, ['WORKER_TIMEOUT_SECONDS']],
    [{ WORKER_TIMEOUT_SECONDS: '901' }, ['WORKER_TIMEOUT_SECONDS']],
    [
      { WORKER_TIMEOUT_SECONDS: '60', WORKER_TAKES_MORE_SECONDS: '31' },
      ['WORKER_TAKES_MORE_SECONDS'],
    ],
    [{ ...WAKE, WAKE_ROLE_ARN: '' }, ['WAKE_ROLE_ARN']],
    [
      { WAKE_ROLE_ARN: WAKE.WAKE_ROLE_ARN },
      ['WAKE_SCHEDULE_GROUP', 'WAKE_FUNCTION_ARN', 'WAKE_DEAD_LETTER_ARN'],
    ],
    [
      { ...WAKE, WAKE_SCHEDULE_GROUP: 'a/b', WAKE_FUNCTION_ARN: 'f' },
      ['WAKE_SCHEDULE_GROUP', 'WAKE_FUNCTION_ARN'],
    ],
  ])('%j is refused', (record, faults) => {
    expect(faultsOf(record)).toEqual(faults);
  });
});

test.each([
  ['secretsmanager:leasehold/live', { store: 'secretsmanager', id: 'leasehold/live' }],
  [
    'secretsmanager:arn:aws:secretsmanager:eu-west-1:123456789012:secret:leasehold-AbCdEf',
    {
      store: 'secretsmanager',
      id: 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:leasehold-AbCdEf',
    },
  ],
  ['ssm:/leasehold', { store: 'ssm', path: '/leasehold' }],
  ['ssm:', undefined],
  ['secretsmanager:', undefined],
  ['postgres://u:p@h/d', undefined],
])('the reference %s', (text, ref) => {
  expect(parseSecretsRef(text)).toEqual(ref);
});
