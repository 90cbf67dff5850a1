import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Format } from 'esbuild';
import { isNode, readTemplate } from '../../aws/support/template.ts';
import type { Node, Value } from '../../aws/support/template.ts';
import { ROOT } from '../../tidy/source-files.ts';

export interface LambdaBuild {
  /** Where the bundle lies. */
  readonly folder: string;
  readonly bytes: number;
  readonly warnings: readonly string[];
}

/** Bundles a function of the stack as `sam build` would: with the build properties that the template gives. */
export async function buildLambda(
  resource: 'ApiFunction' | 'WorkerFunction',
): Promise<LambdaBuild> {
  const properties = propertiesOf(resource);
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-lambda-'));
  const built = await build({
    absWorkingDir: ROOT,
    entryPoints: [...listOf(properties['EntryPoints'])],
    outdir: folder,
    bundle: true,
    platform: 'node',
    format: textOf(properties['Format']) as Format,
    target: textOf(properties['Target']),
    outExtension: Object.fromEntries(
      listOf(properties['OutExtension']).map((pair) => pair.split('=') as [string, string]),
    ),
    mainFields: textOf(properties['MainFields']).split(','),
    minify: properties['Minify'] === true,
    sourcemap: properties['Sourcemap'] === true,
    metafile: true,
    logLevel: 'silent',
  });
  const code = Object.entries(built.metafile.outputs).filter(([name]) => !name.endsWith('.map'));
  return {
    folder,
    bytes: code.reduce((sum, [, { bytes }]) => sum + bytes, 0),
    warnings: built.warnings.map(({ text }) => text),
  };
}

function propertiesOf(resource: string): Node {
  const metadata = readTemplate().Resources[resource]?.Metadata;
  const properties = metadata?.['BuildProperties'];
  if (metadata?.['BuildMethod'] !== 'esbuild' || !isNode(properties)) {
    throw new TypeError(`${resource} is not built by esbuild.`);
  }
  return properties;
}

function textOf(value: Value | undefined): string {
  if (typeof value === 'string') return value;
  throw new TypeError('A build property is not a text.');
}

function listOf(value: Value | undefined): readonly string[] {
  return Array.isArray(value) ? (value as readonly Value[]).map(textOf) : [];
}
