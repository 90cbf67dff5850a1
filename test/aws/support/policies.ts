import { isNode, nodesOf } from './template.ts';
import type { Node, Template, Value } from './template.ts';

export interface Statement {
  /** Resource of the template that it stands in. */
  readonly owner: string;
  readonly actions: readonly string[];
  readonly resources: readonly Value[];
  readonly conditions: readonly string[];
}

/** Every statement of every policy of the template that allows something; both sides of each `If`. */
export function statementsOf({ Resources: resources }: Template): Statement[] {
  return Object.entries(resources).flatMap(([owner, { Properties: properties }]) =>
    [...nodesOf(properties)]
      .filter((node) => node['Effect'] === 'Allow' && node['Resource'] !== undefined)
      .map((node) => ({
        owner,
        actions: listOf(node['Action']).map(String),
        resources: listOf(node['Resource']),
        conditions: isNode(node['Condition'])
          ? Object.values(node['Condition']).flatMap((one) => Object.keys(one as Node))
          : [],
      })),
  );
}

/** An ARN as it would be deployed, as far as the template tells: what CloudFormation puts in is `x`. */
export function arnOf(value: Value, template: Template): string | undefined {
  if (!isNode(value)) return typeof value === 'string' ? value : undefined;
  const { 'Fn::Sub': text, 'Fn::GetAtt': attribute, Ref: ref } = value;
  if (typeof text === 'string')
    return text.replaceAll('${SsmPath}', '/x').replaceAll(/\$\{[^}]+\}/g, 'x');
  if (Array.isArray(attribute)) {
    const type = template.Resources[String(attribute[0])]?.Type;
    return type === undefined ? undefined : ARNS[type];
  }
  return typeof ref === 'string' ? ARN_PARAMETERS[ref] : undefined;
}

const ARNS: Readonly<Record<string, string>> = {
  'AWS::Logs::LogGroup': 'arn:x:logs:x:x:log-group:x:log-stream:x', // ends in ":*", which stands for its streams
  'AWS::SQS::Queue': 'arn:x:sqs:x:x:x',
  'AWS::IAM::Role': 'arn:x:iam::x:role/x',
};
const ARN_PARAMETERS: Readonly<Record<string, string>> = {
  SecretArn: 'arn:x:secretsmanager:x:x:secret:x',
  SecretsKeyArn: 'arn:x:kms:x:x:key/x',
};

function listOf(value: Value | undefined): readonly Value[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? (value as readonly Value[]) : [value];
}
