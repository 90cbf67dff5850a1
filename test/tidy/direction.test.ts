/** The layout of ARCHITECTURE.md: imports point one way. The linter says the coarse part while you type; this is all of it. */
import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sourceFiles, type SourceFile } from './source-files.ts';
import { importsOf, type Import } from './syntax.ts';

const SHAPES = 'the shapes of shared/queue/ and shared/outbox/';
const TYPES = 'types of shared/';
/** The folders of operations. */
const OPERATION_FOLDERS = ['shared/queue', 'shared/outbox'];

/**
 * What a folder may import of this project; the first row that holds a file decides. `folder/*` is the files right in
 * it. From the folders of operations everybody in `shared/` may have the shapes: types, and files without an operation.
 */
const MAY_IMPORT: readonly (readonly [folder: string, from: readonly string[]])[] = [
  ['shared/schemas/', ['shared/schemas/', 'shared/*', SHAPES]],
  ['shared/database/', ['shared/database/', 'shared/*']],
  ['shared/queue/', ['shared/queue/', 'shared/*']],
  ['shared/transaction/', ['shared/transaction/', 'shared/*', SHAPES]],
  ['shared/outbox/', ['shared/outbox/', 'shared/*']],
  ['shared/inbox/', ['shared/inbox/', 'shared/transaction/', 'shared/*']],
  ['shared/metrics/', ['shared/metrics/', 'shared/*', SHAPES]],
  ['shared/openapi/', ['shared/openapi/', 'shared/schemas/', 'shared/*', SHAPES]],
  ['shared/client/', ['shared/client/', 'shared/schemas/', 'shared/*', SHAPES]],
  ['shared/push/', ['shared/push/', 'shared/*', SHAPES]],
  ['shared/publish/', ['shared/publish/', 'shared/*']],
  [
    'shared/',
    [
      'shared/*',
      'shared/schemas/',
      'shared/database/connection-string.ts',
      'shared/push/target.ts',
      SHAPES,
    ],
  ],
  // Pages run in a browser: of what the server is made of, they know the types.
  ['functions/board/client/', ['functions/board/client/', 'shared/*', TYPES, SHAPES]],
  ['functions/', ['functions/', 'shared/']],
  ['infra/', ['infra/', 'shared/']],
  ['docs/examples/', ['docs/examples/', 'infra/', 'functions/', 'shared/']],
  ['test/', ['test/', 'docs/examples/', 'infra/', 'functions/', 'shared/', 'migrations/']],
];

/** Packages of the platform-free folder. */
const SHARED_PACKAGES = new Set([
  '@neondatabase/serverless',
  '@opentelemetry/api',
  'croner',
  'jose',
  'jsonc-parser',
  'standardwebhooks',
  'uuidv7',
  'zod',
]);

const files = sourceFiles('.', ['.ts', '.tsx']);
const operations = OPERATION_FOLDERS.flatMap((folder) => sourceFiles(folder, ['.ts'])).filter(
  isOperation,
);
const operationPaths = new Set(operations.map(({ path }) => path));

describe('direction', () => {
  test('every import points the right way', () => {
    expect(files.length).toBeGreaterThan(0);
    const wrong = files.flatMap((file) =>
      importsOf(file).flatMap((one) => fault(file.path, one) ?? []),
    );
    expect(wrong).toEqual([]);
  });

  test('an operation does not call another operation', () => {
    expect(operations.length).toBeGreaterThan(0);
    expect(sideways(operations, operationPaths)).toEqual([]);
  });

  test('a route does not import another route', () => {
    const routes = sourceFiles('functions/routes', ['.ts']).filter(
      ({ path }) => !path.endsWith('/index.ts'), // the list of them
    );
    expect(sideways(routes, new Set(routes.map(({ path }) => path)))).toEqual([]);
  });

  test('nothing imports an entry', () => {
    const entries = ['functions/worker.ts', 'functions/lambda.ts'];
    const wrong = files
      .filter(({ path }) => !path.startsWith('test/'))
      .flatMap((file) => targets(file).filter((target) => entries.includes(target)));
    expect(wrong).toEqual([]);
  });

  test('shared/ has no barrels', () => {
    const barrels = sourceFiles('shared', ['.ts']).filter((file) =>
      importsOf(file).some(({ reexport }) => reexport),
    );
    expect(barrels.map(({ path }) => path)).toEqual([]);
  });
});

function fault(path: string, { from, typeOnly }: Import): string | undefined {
  if (!from.startsWith('.')) {
    const name = from.split('/', from.startsWith('@') ? 2 : 1).join('/');
    const foreign = path.startsWith('shared/') && !SHARED_PACKAGES.has(name);
    return foreign ? `${path} imports ${from}: shared/ is platform-free` : undefined;
  }
  const target = posix.join(posix.dirname(path), from);
  const row = MAY_IMPORT.find(([folder]) => path.startsWith(folder));
  if (!row) return `${path} lies outside every known folder`;
  const [folder, rules] = row;
  return rules.some((rule) => allows(rule, target, typeOnly))
    ? undefined
    : `${path} imports ${target}; ${folder} may import ${rules.join(', ')}`;
}

function allows(rule: string, target: string, typeOnly: boolean): boolean {
  if (rule === SHAPES) {
    const isInside = OPERATION_FOLDERS.some((folder) => target.startsWith(`${folder}/`));
    return isInside && (typeOnly || !operationPaths.has(target));
  }
  if (rule === TYPES) return typeOnly && target.startsWith('shared/');
  if (!rule.endsWith('*')) return target.startsWith(rule);
  const folder = rule.slice(0, -1);
  return target.startsWith(folder) && !target.slice(folder.length).includes('/');
}

/** An operation makes a call to the database; the files beside it hold shapes that operations share. */
function isOperation({ text }: SourceFile): boolean {
  return /\bleasehold\.\w+\(/.test(text);
}

function targets(file: SourceFile): string[] {
  return importsOf(file)
    .filter(({ from, typeOnly }) => from.startsWith('.') && !typeOnly)
    .map(({ from }) => posix.join(posix.dirname(file.path), from));
}

function sideways(group: readonly SourceFile[], names: ReadonlySet<string>): string[] {
  return group.flatMap((file) =>
    targets(file)
      .filter((target) => names.has(target))
      .map((target) => `${file.path} imports ${target}`),
  );
}
