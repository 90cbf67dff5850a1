import { describe, expect, test } from 'vitest';
import { readIfPresent } from './source-files.ts';

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
const direct = { ...manifest.dependencies, ...manifest.devDependencies };

describe('dependencies', () => {
  test('every version is exact', () => {
    const loose = Object.entries({ ...direct, ...manifest.overrides }).filter(
      ([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version),
    );
    expect(loose).toEqual([]);
  });

  test.each(['workerd', 'miniflare', 'esbuild'])('there is one copy of %s', (name) => {
    const copies = Object.keys(lock.packages).filter((path) =>
      path.endsWith(`node_modules/${name}`),
    );
    expect(copies).toEqual([`node_modules/${name}`]);
  });

  test('docs/dependencies.md gives the reason for each', () => {
    const page = readIfPresent('docs/dependencies.md') ?? '';
    const unnamed = Object.keys(direct).filter((name) => !page.includes(`\`${name}\``));
    expect(unnamed).toEqual([]);
  });
});
