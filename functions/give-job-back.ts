import type { ClaimedJob } from '../shared/queue/claimed-job.ts';
import { release } from '../shared/queue/release.ts';
import type { AppDeps } from './deps.ts';

/**
 * Gives a job back that was claimed and is not to be run here after all; no attempt is spent. Never throws: one that could
 * not be given back is due again when its lease runs out.
 *
 * @example await giveJobBack(deps, { job, owner, reason: 'No time was left to run it.' });
 */
export async function giveJobBack(
  { sql, log }: Pick<AppDeps, 'sql' | 'log'>,
  {
    job,
    owner,
    reason,
  }: { readonly job: ClaimedJob; readonly owner: string; readonly reason: string },
): Promise<void> {
  const { jobId, fencingToken } = job;
  try {
    await release(sql, { jobId, owner, fencingToken, reason });
  } catch {
    log.warn('job_not_released', { job_id: jobId, queue: job.queue });
  }
}
