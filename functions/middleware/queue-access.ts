import { LeaseholdError } from '../../shared/errors.ts';
import { jobQueues } from '../../shared/queue/job-queues.ts';
import type { AppDeps } from '../deps.ts';
import { HttpFault } from '../http-fault.ts';
import type { RouteContext } from '../routes/route.ts';
import { invalidRequest } from './read-json.ts';

type QueueDeps = Pick<AppDeps, 'sql'>;

/** Whether the caller's token is for this queue. */
export function allowsQueue(context: RouteContext, queue: string): boolean {
  return context.get('queues')?.has(queue) ?? true;
}

/** The only queues that the caller's token is for; undefined: all. */
export function queuesOf(context: RouteContext): readonly string[] | undefined {
  const queues = context.get('queues');
  return queues === undefined ? undefined : [...queues];
}

/**
 * For a queue that the request names.
 *
 * @throws {LeaseholdError} `forbidden`
 */
export function requireQueue(context: RouteContext, queue: string): void {
  if (allowsQueue(context, queue)) return;
  throw new HttpFault(
    'forbidden',
    'The token is not for this queue; its claim "queues" lists them.',
    {
      'www-authenticate': 'Bearer realm="leasehold", error="insufficient_scope"',
    },
  );
}

/**
 * For what is no queue's business, such as the outbox: a token for certain queues is not for it.
 *
 * @throws {LeaseholdError} `forbidden`
 */
export function requireAllQueues(context: RouteContext): void {
  if (context.get('queues') === undefined) return;
  throw new HttpFault('forbidden', 'The token is for certain queues alone, and this is not one.', {
    'www-authenticate': 'Bearer realm="leasehold", error="insufficient_scope"',
  });
}

/**
 * For a job that the request names: one of another queue does not exist for this caller. Costs a look-up only where the
 * token is limited.
 *
 * @throws {LeaseholdError} `not_found`
 */
export async function requireJob(
  context: RouteContext,
  deps: QueueDeps,
  jobId: string,
): Promise<void> {
  if ((await allowedJobs(context, deps, [jobId])).length === 0) throw noSuchJob();
}

/** Those of some jobs that the caller's token is for, in the order given. */
export async function allowedJobs(
  context: RouteContext,
  { sql }: QueueDeps,
  jobIds: readonly string[],
): Promise<readonly string[]> {
  const queues = context.get('queues');
  if (queues === undefined || jobIds.length === 0) return jobIds;
  const found = await jobQueues(sql, { jobIds });
  return jobIds.filter((id) => {
    const queue = found.get(id);
    return queue !== undefined && queues.has(queue);
  });
}

/**
 * The queue of a list: the one asked for, or the only one that the token is for.
 *
 * @param path of the field that names the queue
 * @throws {LeaseholdError} `forbidden`; `invalid_request` when a token for several queues leaves open which
 */
export function listedQueue(
  context: RouteContext,
  asked: string | undefined,
  path: string,
): string | undefined {
  if (asked !== undefined) {
    requireQueue(context, asked);
    return asked;
  }
  const queues = context.get('queues');
  if (queues === undefined) return undefined;
  const [only, ...others] = queues;
  if (only !== undefined && others.length === 0) return only;
  throw invalidRequest([{ path, message: 'is required: the token is for certain queues alone' }]);
}

export function noSuchJob(): LeaseholdError {
  return new LeaseholdError('not_found', 'No job has this id.');
}
