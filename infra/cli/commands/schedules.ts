import { Option } from 'commander';
import type { Command } from 'commander';

import { defined } from '../../../shared/defined.ts';
import { MAX_ATTEMPTS, MAX_MISSED_SLOTS } from '../../../shared/limits.ts';
import { PRIORITIES } from '../../../shared/queue/new-job.ts';
import type { Priority } from '../../../shared/queue/new-job.ts';
import { MISSED_POLICIES, OVERLAP_POLICIES } from '../../../shared/queue/schedule.ts';
import type {
  MissedPolicy,
  OverlapPolicy,
  ScheduleSummary,
} from '../../../shared/queue/schedule.ts';
import type { ScheduleResponse } from '../../../shared/schemas/schedule-response.ts';
import { notFound } from '../cli.ts';
import type { Cli, Register } from '../cli.ts';
import { wholeNumber } from '../option-values.ts';
import { readPages, withPaging } from '../pages.ts';
import type { PageOptions } from '../pages.ts';
import { printable } from '../printable.ts';
import { readJsonInput } from '../read-input.ts';
import { facts } from '../table.ts';
import type { Column } from '../table.ts';
import { relativeText } from '../time-text.ts';

interface PutOptions {
  readonly cron: string;
  readonly zone: string;
  readonly queue: string;
  readonly type: string;
  readonly payload: string;
  readonly priority?: Priority;
  readonly maxAttempts?: number;
  readonly missed?: MissedPolicy;
  readonly missedLimit?: number;
  readonly overlap?: OverlapPolicy;
}

export const scheduleCommands: Register = (program, open) => {
  const schedules = program.command('schedules').description('recurring jobs');

  withPaging(
    schedules.command('list', { isDefault: true }).description('schedules, by name'),
  ).action(async (options: PageOptions, command: Command) => {
    const cli = open(command);
    const client = cli.client();
    const { items, cursor } = await readPages<ScheduleSummary>(options, async (limit, at) => {
      const page = await client.schedules.list(defined({ limit, cursor: at }));
      return { items: page.schedules, cursor: page.next_cursor };
    });
    const value = { schedules: items, next_cursor: cursor };
    cli.rows(value, scheduleColumns(cli), items, 'There is no schedule.');
    cli.more(cursor);
  });

  schedules
    .command('get')
    .description('one schedule and the slots that come next')
    .argument('<name>')
    .action(async (name: string, _: unknown, command: Command) => {
      const cli = open(command);
      show(cli, name, await cli.client().schedules.get(name));
    });

  schedules
    .command('put')
    .description('make a schedule, or replace it whole')
    .argument('<name>')
    .requiredOption('--cron <fields>', 'five fields, such as "0 3 * * 1-5"')
    .requiredOption('--zone <zone>', 'IANA time zone, such as Europe/Berlin')
    .requiredOption('--queue <queue>')
    .requiredOption('--type <type>')
    .option('--payload <json>', 'JSON, @file, or - for standard input', 'null')
    .addOption(new Option('--priority <class>', 'default: normal').choices([...PRIORITIES]))
    .option('--max-attempts <n>', "default: the queue's", wholeNumber(1, MAX_ATTEMPTS))
    .addOption(
      new Option('--missed <what>', 'slots that passed unseen').choices([...MISSED_POLICIES]),
    )
    .option('--missed-limit <n>', 'with --missed all', wholeNumber(1, MAX_MISSED_SLOTS))
    .addOption(
      new Option('--overlap <what>', 'while the job before runs').choices([...OVERLAP_POLICIES]),
    )
    .addHelpText(
      'after',
      `
Example
  leasehold schedules put nightly --cron '0 3 * * *' --zone Europe/Berlin --queue reports --type report.csv`,
    )
    .action(async (name: string, options: PutOptions, command: Command) => {
      const cli = open(command);
      const schedule = await cli.client().schedules.put(
        name,
        defined({
          cron: options.cron,
          zone: options.zone,
          queue: options.queue,
          type: options.type,
          payload: await readJsonInput(cli.terminal, '--payload', options.payload),
          priority: options.priority,
          max_attempts: options.maxAttempts,
          missed: options.missed,
          missed_limit: options.missedLimit,
          overlap: options.overlap,
        }),
      );
      show(cli, name, schedule);
    });

  schedules
    .command('delete')
    .description('afterwards there is none of this name')
    .argument('<name>')
    .action(async (name: string, _: unknown, command: Command) => {
      const cli = open(command);
      await cli.client().schedules.delete(name);
      cli.answer(
        { name, outcome: 'deleted' },
        () => `There is no schedule ${printable(name)} now.\n`,
      );
    });

  schedules
    .command('pause')
    .description('fire no slots; those that pass meanwhile are not made up for')
    .argument('<name>')
    .action(async (name: string, _: unknown, command: Command) => {
      const cli = open(command);
      show(cli, name, await cli.client().schedules.pause(name));
    });

  schedules
    .command('resume')
    .description('fire slots again')
    .argument('<name>')
    .action(async (name: string, _: unknown, command: Command) => {
      const cli = open(command);
      show(cli, name, await cli.client().schedules.resume(name));
    });
};

function show(cli: Cli, name: string, schedule: ScheduleResponse | undefined): void {
  if (schedule === undefined) throw notFound(`schedule ${name}`);
  const { payload: _, next_slots: slots, ...rest } = schedule;
  cli.answer(schedule, () =>
    facts([
      ...Object.entries(rest).map(([key, value]): [string, string | null] => [
        key,
        value === null ? null : String(value),
      ]),
      ['next slots', slots.length === 0 ? null : slots.join(', ')],
    ]),
  );
}

function scheduleColumns({ terminal, paint }: Cli): readonly Column<ScheduleSummary>[] {
  return [
    { title: 'NAME', value: ({ name }) => name, mayShrink: true },
    { title: 'CRON', value: ({ cron }) => cron },
    { title: 'ZONE', value: ({ zone }) => zone },
    { title: 'QUEUE', value: ({ queue }) => queue, mayShrink: true },
    { title: 'TYPE', value: ({ type }) => type, mayShrink: true },
    {
      title: 'NEXT',
      value: ({ paused, next_slot_at: next }) =>
        paused ? 'paused' : next && relativeText(next, terminal.now()),
      paint: (cell, { paused }) => (paused ? paint(cell, 'yellow') : cell),
    },
    { title: 'LAST JOB', value: ({ last_job_id }) => last_job_id },
  ];
}
