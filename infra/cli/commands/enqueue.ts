import { Option } from 'commander';
import type { Command } from 'commander';

import type { Enqueued, NewJobInput } from '../../../shared/client/job-calls.ts';
import { defined } from '../../../shared/defined.ts';
import { MAX_ATTEMPTS, MAX_BATCH_JOBS, MAX_SCHEMA_VERSION } from '../../../shared/limits.ts';
import { PRIORITIES } from '../../../shared/queue/new-job.ts';
import type { Priority } from '../../../shared/queue/new-job.ts';
import { usageError } from '../cli.ts';
import type { Cli, Register } from '../cli.ts';
import { jobText } from '../job-page-text.ts';
import { namedValues, seconds, secondsWithin, several, wholeNumber } from '../option-values.ts';
import { printable } from '../printable.ts';
import { readInput, readJsonInput } from '../read-input.ts';
import { relativeText } from '../time-text.ts';
import { exitCodeOf, waitForEnd } from '../wait-for-end.ts';

interface EnqueueOptions {
  readonly id?: string;
  readonly priority?: Priority;
  readonly delay?: number;
  readonly dueAt?: string;
  readonly maxAttempts?: number;
  readonly escalateAfter?: number;
  readonly orderingKey?: string;
  readonly dedupKey?: string;
  readonly onDuplicate?: 'return' | 'replace';
  readonly tag?: readonly string[];
  readonly header?: Readonly<Record<string, string>>;
  readonly schemaVersion?: number;
  readonly wait?: number;
}

const MAX_WAIT = 24 * 60 * 60;

const EXAMPLES = `
Examples
  leasehold enqueue emails email.welcome '{"to":"ada@example.com"}'
  leasehold enqueue reports report.csv @orders.json --delay 15m --tag nightly
  leasehold enqueue reports report.csv - --wait 60 --json < orders.json
  leasehold enqueue-batch @jobs.jsonl

Without --id every call adds a new job. With it a repeat is the same job, so that a script may be run again:
a UUID of version 7, made today.`;

export const enqueueCommands: Register = (program, open) => {
  program
    .command('enqueue')
    .description('add a job')
    .argument('<queue>')
    .argument('<type>')
    .argument('[payload]', 'JSON, @file, or - for standard input', 'null')
    .option('--id <uuid>', 'the id of the job: a repeat is the same job')
    .addOption(new Option('--priority <class>', 'default: normal').choices([...PRIORITIES]))
    .option('--delay <span>', 'not before this time has passed, such as 90s, 15m, 2h', seconds)
    .option('--due-at <instant>', 'not before, such as 2030-01-31T12:00:00Z')
    .option('--max-attempts <n>', "default: the queue's", wholeNumber(1, MAX_ATTEMPTS))
    .option(
      '--escalate-after <n>',
      'failures until a person is asked, where the queue escalates',
      wholeNumber(1, MAX_ATTEMPTS),
    )
    .option('--ordering-key <key>', 'jobs of one key run one after another')
    .option('--dedup-key <key>', 'at most one live job of this key')
    .addOption(
      new Option('--on-duplicate <what>', 'with --dedup-key').choices(['return', 'replace']),
    )
    .option('--tag <tag>', 'to find it by; again for more', several)
    .option('--header <name=value>', 'travels with the job; again for more', namedValues)
    .option('--schema-version <n>', 'of the payload', wholeNumber(1, MAX_SCHEMA_VERSION))
    .option('--wait <span>', 'wait so long for its end', secondsWithin(1, MAX_WAIT))
    .addHelpText('after', EXAMPLES)
    .action(enqueueOne);

  program
    .command('enqueue-batch')
    .description(`add up to ${MAX_BATCH_JOBS} jobs, all or none: one JSON object a line`)
    .argument('<lines>', '@file, or - for standard input')
    .addHelpText(
      'after',
      `
A line has the fields of POST /v1/jobs:
  {"queue":"emails","type":"email.welcome","payload":{"to":"ada@example.com"}}`,
    )
    .action(async (given: string, _: unknown, command: Command) => {
      const cli = open(command);
      const jobs = await readJobLines(cli, given);
      const stored = await cli.client().enqueueBatch(jobs);
      const created = stored.filter(({ outcome }) => outcome === 'created').length;
      cli.answer(
        { jobs: stored },
        () => `${created} created, ${stored.length - created} there already\n`,
      );
    });

  async function enqueueOne(
    queue: string,
    type: string,
    payload: string,
    options: EnqueueOptions,
    command: Command,
  ): Promise<void> {
    const cli = open(command);
    const client = cli.client();
    const job: NewJobInput = defined({
      id: options.id,
      queue,
      type,
      payload: await readJsonInput(cli.terminal, 'The payload', payload),
      priority: options.priority,
      delay_seconds: options.delay,
      due_at: options.dueAt,
      max_attempts: options.maxAttempts,
      escalate_after: options.escalateAfter,
      ordering_key: options.orderingKey,
      dedup_key: options.dedupKey,
      on_duplicate: options.onDuplicate,
      tags: options.tag === undefined ? undefined : [...options.tag],
      headers: options.header,
      schema_version: options.schemaVersion,
    });
    const stored = await client.enqueue(job);
    if (options.wait === undefined) {
      cli.answer(stored, () => storedText(cli, stored));
      return;
    }
    const ended = await waitForEnd(client, cli.terminal, stored.id, options.wait);
    cli.answer(ended, () => jobText(cli, ended, false));
    cli.endWith(exitCodeOf(ended));
  }
};

function storedText({ terminal }: Cli, job: Enqueued): string {
  const what = {
    created: 'created',
    exists: 'there already, the same job',
    duplicate: 'there already: a live job has this dedup key',
  }[job.outcome];
  return `${job.id}  ${what}; ${printable(job.queue)}, due ${relativeText(job.due_at, terminal.now())}\n`;
}

async function readJobLines({ terminal }: Cli, given: string): Promise<NewJobInput[]> {
  const lines = new TextDecoder().decode(await readInput(terminal, given)).split('\n');
  const jobs: NewJobInput[] = [];
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const job = await readJsonInput(terminal, `Line ${index + 1}`, line);
    // The service checks the fields, and names each fault.
    jobs.push(job as unknown as NewJobInput);
  }
  if (jobs.length === 0) throw usageError('There is no line with a job.');
  return jobs;
}
