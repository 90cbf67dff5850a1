import { z } from 'zod';

import type { AppDeps } from '../../../functions/deps.ts';
import { webIds } from '../../../functions/web-ports.ts';
import { defineHandler } from '../../../shared/handler.ts';
import type { HandlerContext } from '../../../shared/handler.ts';
import { createAppHarness } from './app-harness.ts';
import type { Answer, AppHarness } from './app-harness.ts';

/** An app with one handler, in queue `scripted`, that does what the test says. */
export interface ScriptedWork {
  readonly app: AppHarness;
  /** What the handler does; the payload of a job names the entry. */
  readonly behaviours: Map<string, (context: HandlerContext) => unknown>;
  /** Enqueues a job with this behaviour and gives its id. */
  enqueue(behaviour: unknown, fields?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Asks for work to be done. */
  work(depth?: number, overrides?: Partial<AppDeps>): Promise<Answer>;
  job(id: string): Promise<Readonly<Record<string, unknown>>>;
  /** No live jobs, no pokes, no behaviours. */
  reset(): Promise<void>;
}

export interface ScriptedWorkOptions {
  readonly config?: Readonly<Record<string, string>>;
  /** Of each claim and heartbeat; default 3. */
  readonly leaseSeconds?: number;
}

export async function createScriptedWork({
  config = {},
  leaseSeconds = 3,
}: ScriptedWorkOptions = {}): Promise<ScriptedWork> {
  const behaviours: ScriptedWork['behaviours'] = new Map();
  const handler = defineHandler({
    queue: 'scripted',
    type: 'run',
    schema: z.strictObject({ behaviour: z.string() }),
    leaseSeconds,
    run: (job, context) => behaviours.get(job.payload.behaviour)?.(context),
  });
  const app = await createAppHarness({ handlers: [handler], config });
  return {
    app,
    behaviours,
    enqueue: async (behaviour, fields = {}) => {
      const id = webIds.uuidv7();
      await app.call('POST', '/v1/jobs', {
        body: { id, queue: 'scripted', type: 'run', payload: { behaviour }, ...fields },
      });
      return id;
    },
    work: async (depth = 0, overrides = {}) => {
      const body = { queue: 'scripted', depth };
      const request = await app.request('POST', '/v1/work', { body });
      return await app.callApp({ deps: app.deps(overrides) }, request);
    },
    job: async (id) => (await app.call('GET', `/v1/jobs/${id}`)).body,
    reset: async () => {
      await app.backgroundDone();
      await app.database.pool.query('delete from leasehold.job_state');
      app.pokes.length = 0;
      behaviours.clear();
    },
  };
}
