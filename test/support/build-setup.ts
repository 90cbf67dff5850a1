import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildWorker, type WorkerBuild } from '../../infra/local/build-worker.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The Worker as it is deployed. */
    worker: WorkerBuild;
    /** The same with the handlers of `runtime-worker.ts`. */
    testWorker: WorkerBuild;
  }
}

/** Builds the Worker as `wrangler deploy` would, and once more with handlers that tests can steer. */
export default async function setup(project: TestProject): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-build-'));
  try {
    project.provide('worker', await buildWorker(join(folder, 'worker')));
    project.provide(
      'testWorker',
      await buildWorker(join(folder, 'test-worker'), 'test/support/runtime-worker.ts'),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
