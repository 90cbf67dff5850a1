/**
 * The peers are not installed with the project: `test/bench/package.json` has them. They are therefore imported by a name
 * that the compiler does not follow, and each adapter declares the part of the public interface that it uses.
 *
 * @throws when the packages of the benches are not installed; the runner installs them.
 */
export async function importPeer<T>(name: 'graphile-worker' | 'pg-boss'): Promise<T> {
  return (await import(name)) as unknown as T;
}
