import type { LeaseName } from '../../shared/client/lease-calls.ts';
import type { LeaseholdClient } from '../../shared/client/client.ts';
import { notFound, refused } from './cli.ts';
import type { Cli } from './cli.ts';
import { tokenClaims } from './token-claims.ts';

/** A hold on an escalated job, and whether it was taken just now. */
export interface Hold extends LeaseName {
  readonly isNew: boolean;
}

/**
 * The hold under which to settle: the one that is named, a new one, or the one that the person has already.
 *
 * @throws {CliError} when somebody else holds the job, or no person is asked about it
 */
export async function holdOn(
  cli: Cli,
  client: LeaseholdClient,
  id: string,
  fencingToken: string | undefined,
): Promise<Hold> {
  if (fencingToken !== undefined) return { id, fencing_token: fencingToken, isNew: false };
  const { job: taken } = await client.escalations.claim({ job_id: id });
  if (taken !== null) return { id, fencing_token: taken.fencing_token, isNew: true };
  const job = await client.getJob(id);
  if (job === undefined) throw notFound(`job ${id}`);
  const { escalated } = job;
  if (escalated === null) throw refused('not_escalated', `The job is ${job.state}, not escalated.`);
  const { held_by: holder, held_until: until, fencing_token: token } = escalated;
  const me = tokenClaims(await cli.connection().token())?.sub;
  if (holder !== null && holder === me && token !== null) {
    return { id, fencing_token: token, isNew: false };
  }
  throw refused('held', `${holder ?? 'Somebody'} holds the job until ${until ?? 'later'}.`);
}
