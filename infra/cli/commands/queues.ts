import type { Command } from 'commander';

import { defined } from '../../../shared/defined.ts';
import type { JsonObject, JsonValue } from '../../../shared/json-value.ts';
import type { QueueDocument } from '../../../shared/queue/queue-settings.ts';
import type {
  BlockedKeysResponse,
  SwitchedQueueResponse,
} from '../../../shared/schemas/queue-response.ts';
import { notFound, usageError } from '../cli.ts';
import type { Cli, Register } from '../cli.ts';
import { readPages, withPaging } from '../pages.ts';
import type { PageOptions } from '../pages.ts';
import { facts } from '../table.ts';
import type { Column } from '../table.ts';
import { printable } from '../printable.ts';
import { relativeText } from '../time-text.ts';

interface SwitchOptions {
  readonly reason?: string;
}

export const queueCommands: Register = (program, open) => {
  const queues = program.command('queues').description('queues: list, show, set up');

  withPaging(queues.command('list', { isDefault: true }).description('queues, by name')).action(
    async (options: PageOptions, command: Command) => {
      const cli = open(command);
      const client = cli.client();
      const { items, cursor } = await readPages<QueueDocument>(options, async (limit, at) => {
        const page = await client.queues.list(defined({ limit, cursor: at }));
        return { items: page.queues, cursor: page.next_cursor };
      });
      cli.rows(
        { queues: items, next_cursor: cursor },
        queueColumns(cli),
        items,
        'There is no queue.',
      );
      cli.more(cursor);
    },
  );

  queues
    .command('get')
    .description('settings and switches of one queue')
    .argument('<queue>')
    .action(async (name: string, _: unknown, command: Command) => {
      const cli = open(command);
      const queue = await cli.client().queues.get(name);
      if (queue === undefined) throw notFound(`queue ${name}`);
      cli.answer(queue, () => queueText(queue));
    });

  queues
    .command('set')
    .description('make a queue, or change the settings that are named')
    .argument('<queue>')
    .argument('<settings...>', 'name=value; null takes a limit or the target away')
    .addHelpText(
      'after',
      `
The names are those of PUT /v1/queues/{queue}.

Examples
  leasehold queues set emails max_attempts=8 concurrency_limit=20
  leasehold queues set hooks delivery=push target_url=https://example.com/hook`,
    )
    .action(async (name: string, settings: readonly string[], _: unknown, command: Command) => {
      const cli = open(command);
      const queue = await cli.client().queues.put(name, settingsOf(settings));
      cli.answer(queue, () => queueText(queue));
    });

  withPaging(
    queues
      .command('keys')
      .description('ordering keys with jobs that wait, and what they wait for')
      .argument('<queue>'),
  ).action(async (queue: string, options: PageOptions, command: Command) => {
    type Key = BlockedKeysResponse['keys'][number];
    const cli = open(command);
    const client = cli.client();
    const { items, cursor } = await readPages<Key>(options, async (limit, at) => {
      const page = await client.queues.blockedKeys(queue, defined({ limit, cursor: at }));
      return { items: page.keys, cursor: page.next_cursor };
    });
    const columns: readonly Column<Key>[] = [
      { title: 'ORDERING KEY', value: ({ ordering_key }) => ordering_key },
      { title: 'WAITING', value: ({ waiting }) => waiting },
      { title: 'BEHIND', value: ({ blocked_by }) => blocked_by },
      { title: 'WHICH IS', value: ({ blocked_by_state }) => blocked_by_state },
    ];
    cli.rows({ keys: items, next_cursor: cursor }, columns, items, 'No key waits.');
    cli.more(cursor);
  });

  program
    .command('pause')
    .description('stop claims from a queue; what runs goes on')
    .argument('<queue>')
    .option('--reason <text>', 'for the log')
    .action(async (name: string, { reason }: SwitchOptions, command: Command) => {
      const cli = open(command);
      const queue = await cli.client().queues.pause(name, defined({ reason }));
      cli.answer(queue, () => switchText(queue, 'paused'));
    });

  program
    .command('resume')
    .description('let a paused queue go on')
    .argument('<queue>')
    .option('--reason <text>', 'for the log')
    .action(async (name: string, { reason }: SwitchOptions, command: Command) => {
      const cli = open(command);
      const queue = await cli.client().queues.resume(name, defined({ reason }));
      cli.answer(queue, () => switchText(queue, 'running'));
    });
};

function queueColumns({ terminal, paint }: Cli): readonly Column<QueueDocument>[] {
  return [
    { title: 'QUEUE', value: ({ name }) => name },
    {
      title: 'STATE',
      value: ({ paused, push_resume_at }) =>
        paused === null ? (push_resume_at === null ? 'running' : 'resting') : 'paused',
      paint: (cell, { paused }) => (paused === null ? cell : paint(cell, 'yellow')),
    },
    { title: 'DELIVERY', value: ({ delivery }) => delivery },
    { title: 'ATTEMPTS', value: ({ max_attempts }) => max_attempts },
    { title: 'LEASE', value: ({ lease_seconds }) => `${lease_seconds} s` },
    { title: 'LIMIT', value: ({ concurrency_limit }) => concurrency_limit },
    {
      title: 'SINCE',
      value: ({ paused, push_resume_at }) =>
        paused === null
          ? push_resume_at && `until ${relativeText(push_resume_at, terminal.now())}`
          : `${relativeText(paused.since, terminal.now())} by ${paused.by}`,
    },
    { title: 'WHY', value: ({ paused }) => paused?.reason, mayShrink: true },
  ];
}

function queueText({ paused, ...queue }: QueueDocument): string {
  const switched =
    paused === null
      ? 'no'
      : `since ${paused.since} by ${paused.by}: ${paused.reason ?? 'no reason given'}`;
  return facts([...Object.entries(queue).map(textEntry), ['paused', switched]]);
}

function textEntry([name, value]: readonly [string, string | number | null]): [
  string,
  string | null,
] {
  return [name, value === null ? null : String(value)];
}

function switchText({ name, changed }: SwitchedQueueResponse, state: string): string {
  return changed
    ? `${printable(name)} is ${state}.\n`
    : `${printable(name)} was ${state} already.\n`;
}

/** The service checks names and values, and says what is wrong with each. */
function settingsOf(settings: readonly string[]): JsonObject {
  return Object.fromEntries(
    settings.map((setting) => {
      const at = setting.indexOf('=');
      if (at < 1) throw usageError(`"${setting}" is not name=value.`);
      return [setting.slice(0, at), settingValue(setting.slice(at + 1))];
    }),
  );
}

function settingValue(text: string): JsonValue {
  if (text === 'null' || text === '') return null;
  return /^-?\d+$/.test(text) ? Number(text) : text;
}
