import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildWorker, type WorkerBuild } from '../../infra/local/build-worker.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The Worker as it is deployed. */
    worker: WorkerBuild;
  }
}

/** Builds the Worker as `wrangler deploy` would. */
export default async function setup(project: TestProject): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-build-'));
  try {
    project.provide('worker', await buildWorker(folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
