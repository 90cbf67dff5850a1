/**
 * The peers are not installed with the project: `test/bench/package.json` has them. They are therefore imported by a name
 * that the compiler does not follow, and each adapter declares the part of the public interface that it uses.
 */
import { createRequire } from 'node:module';

export interface PeerModule<T> {
  readonly exports: T;
  readonly version: string;
}

/** @throws when the packages of the benches are not installed; the runner installs them. */
export async function importPeer<T>(name: 'graphile-worker' | 'pg-boss'): Promise<PeerModule<T>> {
  const exports = (await import(name)) as unknown as T;
  const lock = createRequire(import.meta.url)('../package-lock.json') as Lock;
  return { exports, version: lock.packages[`node_modules/${name}`]?.version ?? '?' };
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version: string }>>;
}
