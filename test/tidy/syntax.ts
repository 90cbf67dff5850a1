/** Questions about the syntax of a TypeScript file, answered from its syntax tree: comments and strings cannot fool it. */
import { parseAst } from 'vitest/node';
import type { SourceFile } from './source-files.ts';

interface Node {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface Import {
  /** As written: `./claim.ts`, `hono`. */
  readonly from: string;
  /** `import type` and `export type`: gone at run time. */
  readonly typeOnly: boolean;
  /** `export … from`. */
  readonly reexport: boolean;
}

/** Every import of a file: static, dynamic with a plain string, and `export … from`. */
export function importsOf(file: SourceFile): Import[] {
  const found: Import[] = [];
  visit(file, (node) => {
    const from = literal(node['source']);
    if (from === undefined) return;
    found.push({
      from,
      typeOnly: node['importKind'] === 'type' || node['exportKind'] === 'type',
      reexport: node.type.startsWith('Export'),
    });
  });
  return found;
}

/**
 * What a file uses, as dotted names: `Date.now`, `process.env`, `setTimeout()`, `new Date()` (without arguments) and
 * `new Date(…)`.
 */
export function usesOf(file: SourceFile): Set<string> {
  const found = new Set<string>();
  visit(file, (node) => {
    const name = dotted(node['callee'] ?? node);
    if (name === undefined) return;
    const empty = Array.isArray(node['arguments']) && node['arguments'].length === 0;
    if (node.type === 'NewExpression') found.add(`new ${name}(${empty ? '' : '…'})`);
    else if (node.type === 'CallExpression') found.add(`${name}()`);
    else if (node.type === 'MemberExpression') found.add(name);
  });
  return found;
}

/** The titles of the tests and groups in a test file; `${…}` and `%s` stay as they are. */
export function titlesOf(file: SourceFile): string[] {
  const found: string[] = [];
  visit(file, (node) => {
    if (node.type !== 'CallExpression' || !Array.isArray(node['arguments'])) return;
    const callee = node['callee'] as Node;
    const name = dotted(callee) ?? dotted(callee['callee']) ?? dotted(callee['tag']) ?? '';
    if (!/^(?:test|it|describe)(?:\.|$)/.test(name)) return;
    const title = literal((node['arguments'] as unknown[])[0]);
    if (title !== undefined) found.push(title);
  });
  return found;
}

function visit(file: SourceFile, look: (node: Node) => void): void {
  const enter = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(enter);
    if (!isNode(value)) return;
    look(value);
    Object.values(value).forEach(enter);
  };
  try {
    enter(parseAst(file.text, { lang: file.path.endsWith('.tsx') ? 'tsx' : 'ts' }));
  } catch (error) {
    throw new Error(`${file.path} cannot be parsed`, { cause: error });
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}

function dotted(value: unknown): string | undefined {
  if (!isNode(value)) return undefined;
  if (value.type === 'Identifier') return String(value['name']);
  if (value.type !== 'MemberExpression' || value['computed'] === true) return undefined;
  const object = dotted(value['object']);
  const property = dotted(value['property']);
  return object === undefined || property === undefined ? undefined : `${object}.${property}`;
}

function literal(value: unknown): string | undefined {
  if (!isNode(value)) return undefined;
  if (value.type === 'Literal' && typeof value['value'] === 'string') return value['value'];
  if (value.type !== 'TemplateLiteral') return undefined;
  const quasis = value['quasis'] as { readonly value: { readonly raw: string } }[];
  return quasis.map(({ value: { raw } }) => raw).join('${…}');
}
