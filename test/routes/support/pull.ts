import type { Answer, AppHarness, CallOptions } from './app-harness.ts';

/** A lease as the API answers it. */
export interface PulledJob {
  readonly id: string;
  readonly queue: string;
  readonly fencing_token: string;
  readonly attempt: number;
  readonly lease_seconds: number;
  readonly [field: string]: unknown;
}

/** Enqueues a job and gives its id. */
export async function added(
  app: AppHarness,
  queue: string,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const { status, body } = await app.call('POST', '/v1/jobs', {
    body: { queue, type: 'task', payload: { n: 1 }, ...fields },
  });
  if (status > 201) throw new Error(`enqueue answered ${status}: ${JSON.stringify(body)}`);
  return String(body['id']);
}

/** Claims from one queue. */
export async function claimed(
  app: AppHarness,
  queue: string,
  body: Readonly<Record<string, unknown>> = {},
  options: CallOptions = {},
): Promise<PulledJob[]> {
  const answer = await app.call('POST', `/v1/queues/${encodeURIComponent(queue)}/claims`, {
    body,
    ...options,
  });
  if (answer.status !== 200) throw new Error(`claim answered ${answer.status}`);
  return answer.body['jobs'] as PulledJob[];
}

/** Claims one job, which must be there. */
export async function claimedOne(
  app: AppHarness,
  queue: string,
  body: Readonly<Record<string, unknown>> = {},
  options: CallOptions = {},
): Promise<PulledJob> {
  const [job] = await claimed(app, queue, body, options);
  if (job === undefined) throw new Error(`nothing to claim in ${queue}`);
  return job;
}

/** Reports on a lease. */
export async function report(
  app: AppHarness,
  job: Pick<PulledJob, 'id' | 'fencing_token'>,
  verb: 'heartbeat' | 'complete' | 'fail' | 'release' | 'snooze' | 'escalate',
  fields: Readonly<Record<string, unknown>> = {},
  options: CallOptions = {},
): Promise<Answer> {
  return await app.call('POST', `/v1/leases/${job.id}/${verb}`, {
    body: { fencing_token: job.fencing_token, ...fields },
    ...options,
  });
}

/** A job that has failed for good. */
export async function dead(
  app: AppHarness,
  queue: string,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const id = await added(app, queue, fields);
  const job = await claimedOne(app, queue);
  if (job.id !== id) throw new Error('another job was first');
  await report(app, job, 'fail', {
    error: { code: 'broken', message: 'It is broken.' },
    class: 'permanent',
  });
  return id;
}

export async function jobOf(
  app: AppHarness,
  id: string,
): Promise<Readonly<Record<string, unknown>>> {
  return (await app.call('GET', `/v1/jobs/${id}`)).body;
}
