import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMap, isSeq, parseDocument } from 'yaml';
import type { ScalarTag, YAMLMap, YAMLSeq } from 'yaml';
import { ROOT } from '../../tidy/source-files.ts';

export const TEMPLATE_PATH = 'infra/aws/template.yaml';

export type Value = null | string | number | boolean | readonly Value[] | Node;
export interface Node {
  readonly [name: string]: Value;
}

export interface Template {
  readonly Parameters: Readonly<Record<string, Node>>;
  readonly Conditions: Readonly<Record<string, Value>>;
  readonly Globals: { readonly Function: Node };
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Outputs: Readonly<Record<string, Node>>;
  readonly Rules: Readonly<Record<string, Node>>;
}

export interface Resource {
  readonly Type: string;
  readonly Properties: Node;
  readonly Metadata?: Node;
}

/** Functions that CloudFormation has a short form for, and what the value of each is written as. */
const SHORT_FORMS = {
  Ref: 'scalar',
  Sub: 'scalar',
  GetAtt: 'scalar',
  If: 'seq',
  Not: 'seq',
  Or: 'seq',
  And: 'seq',
  Equals: 'seq',
} as const;

/** The SAM template, its short forms written out (`!Ref X` is `{ Ref: 'X' }`). Throws for what YAML does not take. */
export function readTemplate(): Template {
  const document = parseDocument(readFileSync(join(ROOT, TEMPLATE_PATH), 'utf8'), {
    customTags: Object.entries(SHORT_FORMS).flatMap(([name, form]) => tagOf(name, form)),
    strict: true,
    uniqueKeys: true,
  });
  const [fault] = [...document.errors, ...document.warnings];
  if (fault !== undefined) throw fault;
  return document.toJS() as Template;
}

function tagOf(name: string, form: 'scalar' | 'seq'): ScalarTag[] {
  const key = name === 'Ref' ? name : `Fn::${name}`;
  if (form === 'scalar') {
    const resolve = (text: string): Node => ({ [key]: name === 'GetAtt' ? text.split('.') : text });
    return [{ tag: `!${name}`, resolve } as unknown as ScalarTag];
  }
  const resolve = (sequence: YAMLSeq): Node => ({ [key]: sequence.toJSON() as Value });
  return [{ tag: `!${name}`, collection: 'seq', resolve } as unknown as ScalarTag];
}

export function isNode(value: Value | undefined): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every node of a value, itself first. */
export function* nodesOf(value: Value | undefined): Generator<Node> {
  if (Array.isArray(value)) for (const item of value as readonly Value[]) yield* nodesOf(item);
  if (!isNode(value)) return;
  yield value;
  for (const inner of Object.values(value)) yield* nodesOf(inner);
}

/** Whether a file uses what CloudFormation's YAML does not know: anchors, aliases and merge keys. */
export function aliasesOf(): string[] {
  const document = parseDocument(readFileSync(join(ROOT, TEMPLATE_PATH), 'utf8'), {
    logLevel: 'silent',
  });
  return document.contents === null ? [] : [...anchorsIn(document.contents as YAMLMap)];
}

function* anchorsIn(node: unknown): Generator<string> {
  if (typeof node !== 'object' || node === null) return;
  if ('anchor' in node && typeof node.anchor === 'string') yield node.anchor;
  if (isMap(node))
    for (const { key, value } of node.items) yield* [...anchorsIn(key), ...anchorsIn(value)];
  if (isSeq(node)) for (const item of node.items) yield* anchorsIn(item);
}
