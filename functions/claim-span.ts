import type { ClaimedJob } from '../shared/queue/claimed-job.ts';
import { queueAttributes, traceOf } from '../shared/job-span.ts';
import { NO_TRACER } from '../shared/tracer.ts';
import type { AppDeps } from './deps.ts';

/**
 * A claim as a span of the request that makes it, tied to the traces that its jobs came with.
 *
 * @param jobsOf what was taken
 */
export async function tracedClaim<Claimed>(
  { tracer = NO_TRACER, trace }: Pick<AppDeps, 'tracer' | 'trace'>,
  queues: readonly string[],
  claim: () => Promise<Claimed>,
  jobsOf: (claimed: Claimed) => readonly Pick<ClaimedJob, 'headers'>[],
): Promise<Claimed> {
  const span = tracer.start(`claim ${queues.length === 1 ? queues[0] : 'of several queues'}`, {
    kind: 'client',
    parent: trace,
    attributes: queueAttributes(queues.join(' '), 'claim'),
  });
  try {
    const claimed = await claim();
    const jobs = jobsOf(claimed);
    for (const job of jobs) span.link(traceOf(job));
    span.set({ 'messaging.batch.message_count': jobs.length });
    span.end();
    return claimed;
  } catch (thrown) {
    span.end('claim_failed');
    throw thrown;
  }
}
