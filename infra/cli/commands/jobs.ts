import { Option } from 'commander';
import type { Command } from 'commander';

import type { JobQuery } from '../../../shared/client/job-calls.ts';
import { defined } from '../../../shared/defined.ts';
import { JOB_STATES } from '../../../shared/queue/job.ts';
import type { JobState, JobSummary } from '../../../shared/queue/job.ts';
import { PRIORITIES } from '../../../shared/queue/new-job.ts';
import type { Priority } from '../../../shared/queue/new-job.ts';
import { notFound, refused, usageError } from '../cli.ts';
import type { Register } from '../cli.ts';
import { EXIT } from '../exit-code.ts';
import { jobColumns } from '../job-columns.ts';
import { jobText } from '../job-page-text.ts';
import { secondsWithin, seconds } from '../option-values.ts';
import { readPages, withPaging } from '../pages.ts';
import type { PageOptions } from '../pages.ts';
import { exitCodeOf, waitForEnd } from '../wait-for-end.ts';

interface ListOptions extends PageOptions {
  readonly queue?: string;
  readonly state?: JobState;
  readonly type?: string;
  readonly tag?: string;
  readonly orderingKey?: string;
  readonly dedupKey?: string;
  readonly from?: string;
  readonly until?: string;
}

const MAX_WAIT = 24 * 60 * 60;

const LIST_EXAMPLES = `
Examples
  leasehold list --queue emails --state running
  leasehold list --tag nightly --from 2030-01-31T00:00:00Z --all --json`;

export const jobCommands: Register = (program, open) => {
  program
    .command('get')
    .description('show one job with its attempts')
    .argument('<job>', 'its id')
    .option('--payload', 'show payload, headers and result as well')
    .option('--wait <span>', 'wait so long for its end', secondsWithin(1, MAX_WAIT))
    .addHelpText(
      'after',
      `
With --wait it ends with ${EXIT.done} when the job succeeded, ${EXIT.failed} when it ended otherwise or waits for a person, ${EXIT.timeUp} when the time is up.

Example
  leasehold get 0193a1b2-c3d4-7e5f-8a6b-0123456789ab --wait 2m`,
    )
    .action(
      async (
        id: string,
        options: { readonly payload?: boolean; readonly wait?: number },
        command: Command,
      ) => {
        const cli = open(command);
        const client = cli.client();
        const job =
          options.wait === undefined
            ? await client.getJob(id)
            : await waitForEnd(client, cli.terminal, id, options.wait);
        if (job === undefined) throw notFound(`job ${id}`);
        cli.answer(job, () => jobText(cli, job, options.payload === true));
        if (options.wait !== undefined) cli.endWith(exitCodeOf(job));
      },
    );

  const list = program
    .command('list')
    .description('list jobs, the newest first')
    .option('--queue <queue>')
    .addOption(new Option('--state <state>').choices([...JOB_STATES]))
    .option('--type <type>')
    .option('--tag <tag>')
    .option('--ordering-key <key>')
    .option('--dedup-key <key>')
    .option('--from <instant>', 'created at or after')
    .option('--until <instant>', 'created before')
    .addHelpText('after', LIST_EXAMPLES);
  withPaging(list).action(async (options: ListOptions, command: Command) => {
    const cli = open(command);
    const client = cli.client();
    const query: JobQuery = defined({
      queue: options.queue,
      state: options.state,
      type: options.type,
      tag: options.tag,
      ordering_key: options.orderingKey,
      dedup_key: options.dedupKey,
      from: options.from,
      until: options.until,
    });
    const { items, cursor } = await readPages<JobSummary>(options, async (limit, at) => {
      const page = await client.listJobs({ ...query, limit, ...defined({ cursor: at }) });
      return { items: page.jobs, cursor: page.next_cursor };
    });
    cli.rows({ jobs: items, next_cursor: cursor }, jobColumns(cli), items, 'No job fits.');
    cli.more(cursor);
  });

  program
    .command('cancel')
    .description('call a job off: at once when it waits, at its next heartbeat when it runs')
    .argument('<job>', 'its id')
    .option('--reason <text>', 'for the log')
    .action(async (id: string, options: { readonly reason?: string }, command: Command) => {
      const cli = open(command);
      const { outcome } = await cli.client().cancel(id, defined({ reason: options.reason }));
      if (outcome === 'not_found') throw notFound(`job ${id}`);
      if (outcome === 'already_ended') throw refused('job_ended', 'The job has ended already.');
      const text = {
        cancelled: 'Cancelled.',
        cancel_requested: 'An attempt runs; it hears of it at its next heartbeat.',
      }[outcome];
      cli.answer({ id, outcome }, () => `${text}\n`);
    });

  program
    .command('edit')
    .description('change when a pending job is due, or its priority')
    .argument('<job>', 'its id')
    .option('--due-at <instant>', 'such as 2030-01-31T12:00:00Z; the past means now')
    .option('--delay <span>', 'from now on, such as 15m; 0 means now', seconds)
    .addOption(new Option('--priority <class>').choices([...PRIORITIES]))
    .action(
      async (
        id: string,
        options: {
          readonly dueAt?: string;
          readonly delay?: number;
          readonly priority?: Priority;
        },
        command: Command,
      ) => {
        const cli = open(command);
        if (options.dueAt !== undefined && options.delay !== undefined) {
          throw usageError('Give --due-at or --delay, not both.');
        }
        const dueAt =
          options.delay === undefined
            ? options.dueAt
            : new Date(cli.terminal.now() + options.delay * 1000).toISOString();
        const edit = defined({ due_at: dueAt, priority: options.priority });
        if (Object.keys(edit).length === 0) {
          throw usageError('Give --due-at, --delay or --priority.');
        }
        const job = await cli.client().edit(id, edit);
        if ('outcome' in job) {
          if (job.outcome === 'not_found') throw notFound(`job ${id}`);
          throw refused('job_not_pending', 'The job runs or has ended.');
        }
        cli.answer(job, () => jobText(cli, job, false));
      },
    );
};
