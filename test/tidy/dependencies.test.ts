import { describe, expect, test } from 'vitest';
import { readIfPresent, sourceFiles } from './source-files.ts';
import { importsOf } from './syntax.ts';

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly overrides?: Readonly<Record<string, string>>;
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version: string }>>;
}

const manifest = JSON.parse(readIfPresent('package.json') ?? '') as Manifest;
const lock = JSON.parse(readIfPresent('package-lock.json') ?? '') as Lock;
const bench = JSON.parse(readIfPresent('test/bench/package.json') ?? '') as Manifest;
const benchLock = readIfPresent('test/bench/package-lock.json') ?? '';
const direct = { ...manifest.dependencies, ...manifest.devDependencies };

describe('dependencies', () => {
  test('every version is exact', () => {
    const loose = Object.entries({
      ...direct,
      ...manifest.overrides,
      ...bench.devDependencies,
    }).filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version));
    expect(loose).toEqual([]);
  });

  test.each(['workerd', 'miniflare', 'esbuild'])('there is one copy of %s', (name) => {
    const copies = Object.keys(lock.packages).filter((path) =>
      path.endsWith(`node_modules/${name}`),
    );
    expect(copies).toEqual([`node_modules/${name}`]);
  });

  test.each([
    ['@neondatabase/serverless', 'shared/database'],
    ['hono', 'functions'],
    ['zod', 'shared/schemas'],
    ['@aws-sdk/client-scheduler', 'functions/wake'],
    ['miniflare', 'infra/local'],
    ['vitest', 'test'],
  ])('C.3 %s does its work in %s/', (name, folder) => {
    const users = sourceFiles(folder, ['.ts']).filter((file) =>
      importsOf(file).some(({ from, typeOnly }) => from === name && !typeOnly),
    );
    expect(users).not.toEqual([]);
  });

  test('the peers of the benchmarks come with no user, and their lock names no registry', () => {
    expect(Object.keys(bench.devDependencies).filter((name) => name in direct)).toEqual([]);
    expect(Object.keys(lock.packages)).not.toContain('node_modules/graphile-worker');
    expect(benchLock).toContain('"node_modules/graphile-worker"');
    expect(benchLock).not.toContain('"resolved"');
  });

  test('docs/dependencies.md gives the reason for each', () => {
    const page = readIfPresent('docs/dependencies.md') ?? '';
    const unnamed = Object.keys({ ...direct, ...bench.devDependencies }).filter(
      (name) => !page.includes(`\`${name}\``),
    );
    expect(unnamed).toEqual([]);
  });
});
