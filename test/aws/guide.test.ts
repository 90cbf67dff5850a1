/** The guide and the stack agree: its commands, parameters and links are real. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT, readIfPresent } from '../tidy/source-files.ts';
import { readTemplate } from './support/template.ts';

const GUIDE = 'docs/deploy-aws.md';
const guide = readIfPresent(GUIDE) ?? '';
const { Outputs: outputs, Parameters: parameters, Resources: resources } = readTemplate();
const commands = [...guide.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text]) => text ?? '');

function found(pattern: RegExp, text: string): string[] {
  return [...text.matchAll(pattern)].map(([, name]) => name ?? '');
}

describe('C.6 docs/deploy-aws.md', () => {
  test('names parameters that the template has', () => {
    const set = commands.flatMap((text) =>
      found(/--parameter-overrides ([^\n]+)/g, text).flatMap((line) => found(/(\w+)=/g, line)),
    );
    const listed = found(/^\|((?:\s*`[A-Z]\w+`,?)+)\s*\|/gm, guide).flatMap((cell) =>
      found(/`(\w+)`/g, cell),
    );
    expect(set).toContain('SecretArn');
    expect(listed.length).toBeGreaterThan(10);
    const known = new Set([...Object.keys(parameters), ...Object.keys(resources)]);
    const names = [...set, ...listed, ...found(/`(\w+)=/g, guide)];
    const secrets = ['DATABASE_URL', 'AUTH_SECRET', 'POKE_SECRETS', 'PUSH_SECRETS'];
    expect(names.filter((name) => !known.has(name) && !secrets.includes(name))).toEqual([]);
  });

  test('runs scripts that package.json has, and reads outputs that the stack gives', () => {
    const { scripts } = JSON.parse(readIfPresent('package.json') ?? '') as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    const run = found(/npm run (?:-s )?(\w+)/g, guide);
    expect(run).not.toEqual([]);
    expect(run.filter((name) => scripts[name] === undefined)).toEqual([]);
    const read = found(/OutputKey=='(\w+)'/g, guide);
    expect(read.filter((name) => outputs[name] === undefined)).toEqual([]);
  });

  test('leads to files that are there', () => {
    const links = found(/\]\((?!https?:)([^)#]+)\)/g, guide);
    expect(links.length).toBeGreaterThan(3);
    expect(links.filter((link) => !existsSync(join(ROOT, 'docs', link)))).toEqual([]);
  });

  test('looks into the logs of functions that the stack names so by default', () => {
    const names = found(/\/aws\/lambda\/([\w-]+)/g, guide);
    const functions = ['leasehold-worker', 'leasehold-api'];
    expect(new Set(names)).toEqual(new Set(functions));
    expect(parameters['Name']?.['Default']).toBe('leasehold');
    expect(resources['ApiFunction']?.Properties['FunctionName']).toEqual({
      'Fn::Sub': '${Name}-api',
    });
  });

  test('gives every alarm a remedy', () => {
    const alarms = Object.entries(resources)
      .filter(([, { Type: type }]) => type === 'AWS::CloudWatch::Alarm')
      .map(([name]) => name);
    expect(alarms.filter((name) => !guide.includes(`| \`${name}\``))).toEqual([]);
  });

  test('tells the default limits as they are', () => {
    const [timeout, more] = ['WorkerTimeout', 'WorkerTakesMore'].map((name) =>
      Number(parameters[name]?.['Default']),
    );
    expect(guide).toContain(`${(timeout ?? 0) - (more ?? 0)} s by default`);
  });
});
