import type { Command } from 'commander';

import { defined } from '../../../shared/defined.ts';
import { MAX_REDRIVES_PER_SECOND } from '../../../shared/limits.ts';
import type { JobSummary } from '../../../shared/queue/job.ts';
import { notFound, usageError } from '../cli.ts';
import type { Register } from '../cli.ts';
import { setAsideColumns } from '../job-columns.ts';
import { jobText } from '../job-page-text.ts';
import { wholeNumber } from '../option-values.ts';
import { readPages, withPaging } from '../pages.ts';
import type { PageOptions } from '../pages.ts';
import { settleDead } from '../settle-dead.ts';
import type { SettleOptions } from '../settle-dead.ts';

const SETTLE_HELP = `
Either name the jobs, or filter and let the count be checked: the service settles what fits only if it is exactly as many as
--expect says, or as many as were shown when a person said yes. --yes takes the count of a moment ago.

Examples
  leasehold dead VERB 0193a1b2-c3d4-7e5f-8a6b-0123456789ab --reason 'the mail server is back'
  leasehold dead VERB --queue emails --dead-reason attempts_used_up --dry-run
  leasehold dead VERB --queue emails --expect 42 --reason 'the mail server is back'`;

export const deadCommands: Register = (program, open) => {
  const dead = program.command('dead').description('dead letters: list, show, settle');

  const list = dead
    .command('list', { isDefault: true })
    .description('dead jobs, the oldest first')
    .option('--queue <queue>');
  withPaging(list).action(
    async (options: PageOptions & { readonly queue?: string }, command: Command) => {
      const cli = open(command);
      const client = cli.client();
      const { queue } = options;
      const { items, cursor } = await readPages<JobSummary>(options, async (limit, at) => {
        const page = await client.deadLetters.list(defined({ queue, limit, cursor: at }));
        return { items: page.jobs, cursor: page.next_cursor };
      });
      cli.rows(
        { jobs: items, next_cursor: cursor },
        setAsideColumns(cli, 'dead'),
        items,
        'No job is dead.',
      );
      cli.more(cursor);
    },
  );

  dead
    .command('get')
    .description('one dead job with attempts and effects')
    .argument('<job>', 'its id')
    .option('--payload', 'show payload, headers and result as well')
    .action(async (id: string, options: { readonly payload?: boolean }, command: Command) => {
      const cli = open(command);
      const job = await cli.client().deadLetters.get(id);
      if (job === undefined) throw notFound(`dead job ${id}`);
      cli.answer(job, () => jobText(cli, job, options.payload === true));
    });

  dead
    .command('note')
    .description('say who looks after a dead or escalated job, and what is known')
    .argument('<job>', 'its id')
    .option('--owner <name>', 'who looks after it')
    .option('--note <text>', 'what is known')
    .action(
      async (
        id: string,
        options: { readonly owner?: string; readonly note?: string },
        command: Command,
      ) => {
        const cli = open(command);
        const note = defined({ owner: options.owner, note: options.note });
        if (Object.keys(note).length === 0) throw usageError('Give --owner or --note.');
        const job = await cli.client().deadLetters.note(id, note);
        if (job === undefined) throw notFound(`dead or escalated job ${id}`);
        cli.answer(job, () => jobText(cli, job, false));
      },
    );

  settling(dead.command('redrive'), 'redrive')
    .description('send dead jobs back, with fresh attempts')
    .option(
      '--per-second <n>',
      'spread them: so many a second',
      wholeNumber(1, MAX_REDRIVES_PER_SECOND),
    )
    .action(async (ids: readonly string[], options: SettleOptions, command: Command) => {
      await settleDead(open(command), 'redrive', ids, options);
    });

  settling(dead.command('discard'), 'discard')
    .description('give dead jobs up, for good')
    .action(async (ids: readonly string[], options: SettleOptions, command: Command) => {
      await settleDead(open(command), 'discard', ids, options);
    });
};

function settling(command: Command, verb: string): Command {
  return command
    .argument('[jobs...]', 'their ids')
    .option('--reason <text>', 'for the log; needed unless it is a dry run')
    .option('--queue <queue>', 'filter: of this queue')
    .option('--type <type>', 'filter: of this type')
    .option('--dead-reason <reason>', 'filter: dead for this reason')
    .option('--from <instant>', 'filter: dead since then or later')
    .option('--until <instant>', 'filter: dead before')
    .option('--expect <n>', 'with a filter: how many it must be', wholeNumber(0, 1000))
    .option('--dry-run', 'with a filter: say what would be settled, and change nothing')
    .option('--yes', 'with a filter: do not ask')
    .addHelpText('after', SETTLE_HELP.replaceAll('VERB', verb));
}
