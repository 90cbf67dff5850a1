import type { LeaseholdClient } from '../../shared/client/client.ts';
import { MAX_WAIT_SECONDS } from '../../shared/limits.ts';
import type { Job } from '../../shared/queue/job.ts';
import { notFound } from './cli.ts';
import { EXIT } from './exit-code.ts';
import type { ExitCode } from './exit-code.ts';
import type { Terminal } from './terminal.ts';

/** An escalated job waits for a person, which may take days: nobody waits for that. */
const UNENDED = ['pending', 'running'];

/** Asks for a job until it has ended, the service waiting with it, or until the time is up. */
export async function waitForEnd(
  client: LeaseholdClient,
  { now, signal }: Terminal,
  id: string,
  waitSeconds: number,
): Promise<Job> {
  const until = now() + waitSeconds * 1000;
  for (;;) {
    const left = Math.max(0, Math.ceil((until - now()) / 1000));
    const wait = Math.min(left, MAX_WAIT_SECONDS);
    const job = await client.getJob(id, { wait, signal });
    if (job === undefined) throw notFound(`job ${id}`);
    if (!UNENDED.includes(job.state) || now() >= until) return job;
  }
}

/** What waiting for a job comes to. */
export function exitCodeOf({ state }: Job): ExitCode {
  if (state === 'succeeded') return EXIT.done;
  return UNENDED.includes(state) ? EXIT.timeUp : EXIT.failed;
}
