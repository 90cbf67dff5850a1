import type { AppDeps } from '../../../functions/deps.ts';
import { webIds } from '../../../functions/web-ports.ts';
import { configureQueue } from '../../../shared/queue/configure-queue.ts';
import { getJob } from '../../../shared/queue/get-job.ts';
import type { Job } from '../../../shared/queue/job.ts';
import type { QueueSettings } from '../../../shared/queue/queue-settings.ts';
import { createAppHarness } from '../../routes/support/app-harness.ts';
import type { AppHarness } from '../../routes/support/app-harness.ts';
import { startReceiver } from './receiver.ts';
import type { Receiver } from './receiver.ts';
import { PUSH_KEY } from './scripted-push.ts';

/** The app over a real database, and a receiver in another process. */
export interface PushApp {
  readonly app: AppHarness;
  readonly receiver: Receiver;
  /** Makes the queue one whose jobs are pushed to a path of the receiver. */
  configure(queue: string, path: string, settings?: Partial<QueueSettings>): Promise<void>;
  /** Enqueues by HTTP, the payload as JSON text that is sent as it is. */
  enqueue(
    queue: string,
    payload: string,
    fields?: Readonly<Record<string, unknown>>,
  ): Promise<string>;
  /** One poke; what it came to. */
  work(queue: string, deps?: Partial<AppDeps>): Promise<Readonly<Record<string, unknown>>>;
  /** Makes whatever waits of the queue due now. */
  makeDue(queue: string): Promise<void>;
  job(id: string): Promise<Job>;
  close(): Promise<void>;
}

export async function createPushApp(
  options: {
    readonly keys?: readonly string[];
    readonly receiverKeys?: readonly string[];
    readonly config?: Readonly<Record<string, string>>;
  } = {},
): Promise<PushApp> {
  const keys = options.keys ?? [PUSH_KEY];
  const receiver = await startReceiver(options.receiverKeys ?? keys);
  const app = await createAppHarness({
    config: {
      PUSH_SECRETS: keys.join(' '),
      PUSH_ALLOW_HTTP: 'on',
      PUSH_ALLOWED_HOSTS: `127.0.0.1:${receiver.port} 127.0.0.1:1`,
      ...options.config,
    },
  });
  const { sql } = app.database;
  return {
    app,
    receiver,
    configure: async (queue, path, settings = {}) => {
      await configureQueue(sql, {
        queue,
        actor: 'push-tests',
        settings: { delivery: 'push', target_url: receiver.url(path), ...settings },
      });
    },
    enqueue: async (queue, payload, fields = {}) => {
      const id = webIds.uuidv7();
      const rest = JSON.stringify({ id, queue, type: 'order.paid', ...fields }).slice(0, -1);
      const stored = await app.call('POST', '/v1/jobs', {
        body: `${rest},"payload":${payload}}`,
        headers: { 'content-type': 'application/json' },
      });
      if (stored.status !== 201) throw new Error(JSON.stringify(stored.body));
      return id;
    },
    work: async (queue, deps) => {
      const request = await app.request('POST', '/v1/work', { body: { queue, depth: 0 } });
      const parts = deps === undefined ? {} : { deps: app.deps(deps) };
      return (await app.callApp(parts, request)).body;
    },
    makeDue: async (queue) => {
      await app.database.pool.query(
        'update leasehold.job_state set due_at = clock_timestamp() where queue = $1 and lane <> 0',
        [queue],
      );
      await app.database.pool.query(
        'update leasehold.queues set push_resume_at = null where name = $1',
        [queue],
      );
    },
    job: async (id) => {
      const job = await getJob(sql, { jobId: id });
      if (job === undefined) throw new Error('no such job');
      return job;
    },
    close: async () => {
      await app.close();
      await receiver.close();
    },
  };
}
