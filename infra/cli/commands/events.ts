import { Option } from 'commander';
import type { Command } from 'commander';

import type { LogQuery } from '../../../shared/client/log-calls.ts';
import { defined } from '../../../shared/defined.ts';
import { LOG_EVENT_TYPES } from '../../../shared/queue/log-event.ts';
import type { LogEvent, LogEventType } from '../../../shared/queue/log-event.ts';
import { notFound } from '../cli.ts';
import type { Cli, Register } from '../cli.ts';
import { eventColumns, eventLine, feedColumns } from '../event-text.ts';
import { secondsWithin, wholeNumber } from '../option-values.ts';
import { readPages, withPaging } from '../pages.ts';
import type { PageOptions } from '../pages.ts';
import { printableJson } from '../printable.ts';

interface EventFilter {
  readonly queue?: string;
  readonly actor?: string;
  readonly type?: LogEventType;
}

interface TailOptions extends EventFilter {
  readonly job?: string;
  readonly since?: string;
  readonly limit?: number;
  readonly for?: number;
}

const MAX_TAIL_SECONDS = 7 * 24 * 60 * 60;
const MAX_TAIL_EVENTS = 1_000_000;

export const eventCommands: Register = (program, open) => {
  filtered(program.command('tail'))
    .description('follow what happens, live')
    .option('--job <job>', 'of this job')
    .option('--since <cursor>', 'from after this event on; default: from now on')
    .option('--limit <n>', 'end after so many', wholeNumber(1, MAX_TAIL_EVENTS))
    .option('--for <span>', 'end after this time', secondsWithin(1, MAX_TAIL_SECONDS))
    .addHelpText(
      'after',
      `
It goes on until Ctrl-C. A stream that is cut is taken up where it was, and nothing is missed. With --json each event is one
line; the "cursor" of the last one that had any is what --since takes. The service reads the log once, however many follow it.

Examples
  leasehold tail --queue emails
  leasehold tail --type dead --json | while read -r event; do …; done`,
    )
    .action(async (options: TailOptions, command: Command) => {
      await follow(open(command), options);
    });

  program
    .command('history')
    .description('what happened to one job')
    .argument('<job>', 'its id')
    .action(async (id: string, _: unknown, command: Command) => {
      const cli = open(command);
      const client = cli.client();
      const { items } = await readPages<LogEvent>({ all: true }, async (limit, after) => {
        const page = await client.log.history(id, defined({ limit, after }));
        if (page === undefined) throw notFound(`job ${id}`);
        return { items: page.events, cursor: page.next_after };
      });
      cli.rows({ events: items }, eventColumns(cli.paint), items, 'Nothing is recorded of it.');
    });

  withPaging(filtered(program.command('events')))
    .description('the event log, oldest first')
    .option('--newest', 'the newest first')
    .addHelpText(
      'after',
      `
The "cursor" of an event is a place in the log: --cursor goes on after it, and so does tail --since. With --newest it goes on
to what is older.

Examples
  leasehold events --newest --queue emails
  leasehold events --actor maria --all --json`,
    )
    .action(async (options: PageOptions & EventFilter & { newest?: true }, command: Command) => {
      const cli = open(command);
      const client = cli.client();
      const query: LogQuery = defined({
        order: options.newest === true ? ('newest' as const) : undefined,
        queue: options.queue,
        actor: options.actor,
        type: options.type,
      });
      let reached: string | null = options.cursor ?? null;
      const { items, cursor } = await readPages<LogEvent>(options, async (limit, at) => {
        const page = await client.log.read({ ...query, limit, ...defined({ cursor: at }) });
        reached = options.newest === true ? page.next_cursor : (page.next_cursor ?? reached);
        return { items: page.events, cursor: page.more ? page.next_cursor : null };
      });
      const value = { events: items, next_cursor: reached };
      cli.rows(value, feedColumns(cli.paint), items, 'No event fits.');
      cli.more(cursor);
    });
};

function filtered(command: Command): Command {
  return command
    .option('--queue <queue>')
    .option('--actor <name>', 'done by')
    .addOption(new Option('--type <type>', 'of event').choices([...LOG_EVENT_TYPES]));
}

async function follow(cli: Cli, options: TailOptions): Promise<void> {
  const { terminal, json, paint } = cli;
  const { limit = Number.POSITIVE_INFINITY } = options;
  const say = (text: string): void => {
    if (!json) terminal.err(`${paint(text, 'gray')}\n`);
  };
  const enough = new AbortController();
  const timeUp = options.for === undefined ? [] : [AbortSignal.timeout(options.for * 1000)];
  const signal = AbortSignal.any([terminal.signal, enough.signal, ...timeUp]);
  const stream = cli.client().log.follow({ queue: options.queue, cursor: options.since, signal });
  let shown = 0;
  for await (const message of stream) {
    if (message.kind === 'cut') say('The stream was cut; it is being taken up where it was.');
    if (message.kind === 'reset') say('The service has another log by now: events may be missing.');
    if (message.kind !== 'change') continue;
    for (const event of message.events) {
      if (!fits(event, options) || shown >= limit) continue;
      shown += 1;
      terminal.out(json ? `${printableJson(event, 0)}\n` : eventLine(paint, event));
    }
    if (shown >= limit) enough.abort();
  }
}

/** The stream filters by queue alone. */
function fits(event: LogEvent, { job, actor, type }: TailOptions): boolean {
  return (
    (job === undefined || event.job_id === job) &&
    (actor === undefined || event.actor === actor) &&
    (type === undefined || event.type === type)
  );
}
