/** The SAM template against AWS's own specification, and against the code that it deploys. */
import { describe, expect, test } from 'vitest';
import { LAMBDA_SETTING_NAMES, parseLambdaSettings } from '../../functions/lambda/settings.ts';
import { PROXY_VARIABLES } from '../../shared/proxy-settings.ts';
import { readIfPresent, sourceFiles } from '../tidy/source-files.ts';
import { loadSpecification } from './support/specification.ts';
import { aliasesOf, isNode, nodesOf, readTemplate } from './support/template.ts';
import type { Node, Value } from './support/template.ts';

const template = readTemplate();
const specification = loadSpecification();
const resources = Object.entries(template.Resources);
const code = sourceFiles('functions', ['.ts'])
  .map(({ text }) => text)
  .join('\n');

describe('C.6 the SAM template', () => {
  test('is YAML as CloudFormation reads it: no anchors', () => {
    expect(aliasesOf()).toEqual([]);
  });

  test.each(resources)('%s is what CloudFormation takes', (name, resource) => {
    expect(specification.faultsOf(name, resource)).toEqual([]);
  });

  test('the check finds what is wrong', () => {
    const { ApiUrl: url, WorkerFunction: worker } = template.Resources;
    const faults = [
      specification.faultsOf('a', { Type: 'AWS::Lambda::Url', Properties: {} }),
      specification.faultsOf('b', {
        Type: 'AWS::Lambda::Url',
        Properties: { ...url?.Properties, InvokeMode: 'STREAM', Colour: 'red' },
      }),
      specification.faultsOf('c', {
        Type: 'AWS::Serverless::Function',
        Properties: { ...worker?.Properties, LoggingConfig: { Group: 'x' } },
      }),
      specification.faultsOf('d', { Type: 'AWS::Lambda::Nothing', Properties: {} }),
    ];
    expect(faults).toEqual([
      ['a.AuthType is missing', 'a.TargetFunctionArn is missing'],
      ['b.InvokeMode must be one of BUFFERED, RESPONSE_STREAM', 'b.Colour is not known'],
      ['c.LoggingConfig.Group is not known'],
      ['d: AWS::Lambda::Nothing is not known'],
    ]);
  });

  test('the shortest time of a worker is one that its default for more jobs fits into', () => {
    const { WorkerTimeout: timeout, WorkerTakesMore: more } = template.Parameters;
    const settings = parseLambdaSettings({
      WORKER_TIMEOUT_SECONDS: JSON.stringify(timeout?.['MinValue']),
      WORKER_TAKES_MORE_SECONDS: JSON.stringify(more?.['Default']),
    });
    expect(settings).toMatchObject({ workerTimeoutSeconds: 60, takesMoreSeconds: 30 });
  });

  test('what all functions share is known too', () => {
    const shared = { Type: 'AWS::Serverless::Function', Properties: template.Globals.Function };
    expect(specification.faultsOf('Globals', shared)).toEqual([]);
  });
});

describe('C.6 references in the SAM template', () => {
  test('every reference leads to something', () => {
    expect(references(template as unknown as Value).filter((one) => !leadsSomewhere(one))).toEqual(
      [],
    );
  });

  test('no resource waits for itself, by whatever way', () => {
    const shared = references(template.Globals.Function);
    const needs = new Map(
      resources.map(([name, resource]) => {
        const own = references(resource as unknown as Value);
        const all = resource.Type === 'AWS::Serverless::Function' ? [...own, ...shared] : own;
        return [name, all.map((one) => one.split('.')[0] ?? '')] as const;
      }),
    );
    const circles = (name: string, path: readonly string[]): string[] =>
      path.includes(name)
        ? [[...path, name].join(' > ')]
        : (needs.get(name) ?? []).flatMap((one) => circles(one, [...path, name]));
    expect(resources.flatMap(([name]) => circles(name, []))).toEqual([]);
  });

  test('every parameter and condition is used', () => {
    const used = new Set(references(template as unknown as Value));
    expect(Object.keys(template.Parameters).filter((name) => !used.has(name))).toEqual([]);
    const asked = [...nodesOf(template as unknown as Value)].flatMap((node) => {
      const branches = node['Fn::If'];
      return Array.isArray(branches) ? [branches[0] as Value] : [];
    });
    expect(new Set(asked)).toEqual(new Set(Object.keys(template.Conditions)));
  });

  test('every parameter says what it is and has a default that its own rules take', () => {
    for (const [name, parameter] of Object.entries(template.Parameters)) {
      const { Default: preset, AllowedPattern: pattern, AllowedValues: values } = parameter;
      expect(parameter['Description'], `${name}`).toBeTypeOf('string');
      const form = new RegExp(typeof pattern === 'string' ? `^(?:${pattern})$` : '');
      expect(textOf(preset), `${name}`).toMatch(form);
      expect(Array.isArray(values) ? values : [preset], `${name}`).toContain(preset);
    }
  });
});

describe('C.6 the SAM template and the code', () => {
  const variables = [template.Globals.Function, ...resources.map(([, one]) => one.Properties)]
    .map((properties) => properties['Environment'] as { readonly Variables: Node } | undefined)
    .flatMap((environment) => Object.keys(environment?.Variables ?? {}));

  test('every environment variable is one that the code reads', () => {
    const config = /CONFIG_NAMES = \[([^\]]+)\]/.exec(readIfPresent('shared/config.ts') ?? '');
    const read = new Set([
      ...LAMBDA_SETTING_NAMES,
      ...Object.keys(PROXY_VARIABLES),
      ...[...(config?.[1] ?? '').matchAll(/'([A-Z_]+)'/g)].map(([, name]) => name),
      'SECRETS_VERSION', // its change is what counts
    ]);
    expect(variables.filter((name) => !read.has(name))).toEqual([]);
  });

  test('every setting of the Lambda entry is given', () => {
    expect(LAMBDA_SETTING_NAMES.filter((name) => !variables.includes(name))).toEqual([]);
  });

  test('no secret is in it: neither as a variable nor as a parameter', () => {
    const secret = /SECRETS?$|DATABASE_URL|PASSWORD|TOKEN/;
    expect(variables.filter((name) => name !== 'SECRETS' && secret.test(name))).toEqual([]);
    expect(Object.keys(template.Parameters).filter((name) => secret.test(name))).toEqual([]);
  });

  test('metrics count events that the code logs', () => {
    const filters = resources.filter(([, { Type: type }]) => type === 'AWS::Logs::MetricFilter');
    expect(filters).toHaveLength(2);
    const logged =
      sourceFiles('shared', ['.ts'])
        .map(({ text }) => text)
        .join('\n') + code;
    for (const [, { Properties: properties }] of filters) {
      const [, event] = /\$\.event = "(\w+)"/.exec(textOf(properties['FilterPattern'])) ?? [];
      const call = new RegExp(`log\\.(?:info|warn|error)\\('${event}'`);
      expect(call.test(logged), `${event} is logged`).toBe(true);
      for (const { MetricValue: value } of nodesOf(properties['MetricTransformations'])) {
        const field = /^\$\.(\w+)$/.exec(textOf(value))?.[1];
        expect(field === undefined || logged.includes(`${field}:`), `${field}`).toBe(true);
      }
    }
  });

  test('every alarm looks at a metric that is there', () => {
    const made = resources
      .flatMap(([, { Properties: properties }]) => [
        ...nodesOf(properties['MetricTransformations']),
      ])
      .map(({ MetricName: name }) => name);
    const alarms = resources.filter(([, { Type: type }]) => type === 'AWS::CloudWatch::Alarm');
    expect(alarms).toHaveLength(3);
    for (const [name, { Properties: properties }] of alarms) {
      const known =
        properties['Namespace'] === 'AWS/SQS' || made.includes(properties['MetricName'] ?? null);
      expect(known, `${name}`).toBe(true);
    }
  });

  test('what a schedule sends is an event that the entry takes for a drain', async () => {
    const { readEvent } = await import('../../functions/lambda/event-shape.ts');
    const target = template.Resources['SafetySweepSchedule']?.Properties['Target'];
    const input = isNode(target) ? target['Input'] : undefined;
    expect(readEvent(JSON.parse(textOf(input)))).toEqual({ kind: 'drain' });
  });
});

/** Names that something refers to: `X` for `!Ref X` and `${X}`, `X.Y` for `!GetAtt X.Y`; conditions are apart. */
function references(value: Value): string[] {
  return [...nodesOf(value)].flatMap((node) => {
    const { Ref: ref, 'Fn::GetAtt': attribute, 'Fn::Sub': text } = node;
    if (typeof ref === 'string') return [ref];
    if (Array.isArray(attribute)) return [attribute.join('.')];
    if (typeof text === 'string') {
      return [...text.matchAll(/\$\{([^}!]+)\}/g)].map(([, name]) => name ?? '');
    }
    return [];
  });
}

function textOf(value: Value | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? '');
}

function leadsSomewhere(reference: string): boolean {
  if (/^AWS::(?:AccountId|NoValue|Partition|Region|StackName)$/.test(reference)) return true;
  const [name = '', attribute] = reference.split('.');
  const resource = template.Resources[name];
  if (attribute === undefined) return name in template.Parameters || resource !== undefined;
  return resource !== undefined && specification.hasAttribute(resource.Type, attribute);
}
