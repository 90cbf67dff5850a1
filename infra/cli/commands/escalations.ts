import type { Command } from 'commander';

import type { LeaseholdClient } from '../../../shared/client/client.ts';
import type { EscalationCalls, HeldJob } from '../../../shared/client/escalation-calls.ts';
import type { LeaseName } from '../../../shared/client/lease-calls.ts';
import { defined } from '../../../shared/defined.ts';
import { MAX_HOLD_SECONDS } from '../../../shared/limits.ts';
import type { JobSummary } from '../../../shared/queue/job.ts';
import { refused } from '../cli.ts';
import type { Cli, Register } from '../cli.ts';
import { EXIT } from '../exit-code.ts';
import { holdOn } from '../hold.ts';
import { errorText, setAsideColumns } from '../job-columns.ts';
import { secondsWithin } from '../option-values.ts';
import { readPages, withPaging } from '../pages.ts';
import type { PageOptions } from '../pages.ts';
import { printableJson } from '../printable.ts';
import { readJsonInput } from '../read-input.ts';
import { facts } from '../table.ts';

interface SettleOptions {
  readonly fencingToken?: string;
}

const SETTLE_HELP = `
Without --fencing-token your hold on the job is used, or the job is taken for it.`;

export const escalationCommands: Register = (program, open) => {
  const escalations = program
    .command('escalations')
    .description('jobs that wait for a person: list, take, settle');

  const list = escalations
    .command('list', { isDefault: true })
    .description('what waits for a person, the longest first')
    .option('--queue <queue>');
  withPaging(list).action(
    async (options: PageOptions & { readonly queue?: string }, command: Command) => {
      const cli = open(command);
      const client = cli.client();
      const { queue } = options;
      const { items, cursor } = await readPages<JobSummary>(options, async (limit, at) => {
        const page = await client.escalations.list(defined({ queue, limit, cursor: at }));
        return { items: page.jobs, cursor: page.next_cursor };
      });
      const value = { jobs: items, next_cursor: cursor };
      cli.rows(value, setAsideColumns(cli, 'escalated'), items, 'Nothing waits for a person.');
      cli.more(cursor);
    },
  );

  escalations
    .command('claim')
    .description('take the one that has waited longest, or the one named')
    .argument('[job]', 'its id')
    .option('--queue <queue>', 'of this queue')
    .option('--hold <span>', 'how long you hold it', secondsWithin(1, MAX_HOLD_SECONDS))
    .option('--payload', 'show the payload as well')
    .addHelpText(
      'after',
      `
It ends with ${EXIT.notFound} when none is free. The hold has a fencing token, which the other commands find by themselves.`,
    )
    .action(
      async (
        id: string | undefined,
        options: { readonly queue?: string; readonly hold?: number; readonly payload?: boolean },
        command: Command,
      ) => {
        const cli = open(command);
        const wanted = { queue: options.queue, job_id: id, lease_seconds: options.hold };
        const claimed = await cli.client().escalations.claim(defined(wanted));
        const { job } = claimed;
        if (job === null) {
          if (cli.json) cli.answer(claimed, () => '');
          else cli.terminal.err('None is free.\n');
          cli.endWith(EXIT.notFound);
          return;
        }
        cli.answer(claimed, () => heldText(job, options.payload === true));
      },
    );

  settling(escalations.command('complete'), 'the work is done; the job has succeeded')
    .option('--result <json>', 'JSON, @file, or - for standard input')
    .option('--note <text>', 'for the log')
    .action(
      async (
        id: string,
        options: SettleOptions & { readonly result?: string; readonly note?: string },
        command: Command,
      ) => {
        const cli = open(command);
        const { result: given, note } = options;
        const result =
          given === undefined ? undefined : await readJsonInput(cli.terminal, '--result', given);
        await settle(cli, id, options, (calls, held) =>
          calls.complete(held, defined({ result, note })),
        );
      },
    );

  settling(escalations.command('send-back'), 'back to its queue, with fresh attempts and your note')
    .requiredOption('--note <text>', 'the next holder reads it')
    .action(
      async (id: string, options: SettleOptions & { readonly note: string }, command: Command) => {
        await settle(open(command), id, options, (calls, held) =>
          calls.sendBack(held, options.note),
        );
      },
    );

  settling(escalations.command('discard'), 'give the job up, for good')
    .requiredOption('--reason <text>', 'for the log')
    .action(
      async (
        id: string,
        options: SettleOptions & { readonly reason: string },
        command: Command,
      ) => {
        await settle(open(command), id, options, (calls, held) =>
          calls.discard(held, options.reason),
        );
      },
    );

  settling(escalations.command('release'), 'end your hold; the job goes on waiting').action(
    async (id: string, options: SettleOptions, command: Command) => {
      await settle(open(command), id, options, (calls, held) => calls.release(held));
    },
  );
};

function settling(command: Command, description: string): Command {
  return command
    .description(description)
    .argument('<job>', 'its id')
    .option('--fencing-token <n>', 'of your hold')
    .addHelpText('after', SETTLE_HELP);
}

async function settle(
  cli: Cli,
  id: string,
  { fencingToken }: SettleOptions,
  by: (calls: EscalationCalls, held: LeaseName) => ReturnType<EscalationCalls['release']>,
): Promise<void> {
  const client = cli.client();
  const held = await holdOn(cli, client, id, fencingToken);
  const settled = await by(client.escalations, held).catch(async (error: unknown) => {
    if (held.isNew) await giveBack(client, held);
    throw error;
  });
  if (settled.outcome === 'lease_lost') {
    throw refused('lease_lost', 'The hold has ended: somebody else may have the job.');
  }
  cli.answer({ id, ...settled }, () => `${id} is ${settled.outcome} now.\n`);
}

/** What was refused leaves the job as free as it was. */
async function giveBack(client: LeaseholdClient, held: LeaseName): Promise<void> {
  try {
    await client.escalations.release(held);
  } catch {
    // Then the hold runs out by itself.
  }
}

function heldText(job: HeldJob, withPayload: boolean): string {
  const text = facts([
    ['id', job.id],
    ['queue', job.queue],
    ['type', job.type],
    ['reason', job.reason],
    ['error', errorText(job.error) ?? undefined],
    ['note', job.note ?? undefined],
    ['escalated', job.escalated_at],
    ['yours until', job.lease_expires_at],
    ['fencing token', job.fencing_token],
  ]);
  return withPayload ? `${text}\npayload\n${printableJson(job.payload, 2)}\n` : text;
}
